import { describe, expect, it } from 'vitest';
import { createDroppedFields } from './write-status.ts';

const seen = { uid: 'uid-1', wanted: { status: 'False', reason: 'NoHost' }, found: { error: null } };

describe('a status that came back without some of its fields', () => {
  it('is remembered, and not written again', () => {
    const dropped = createDroppedFields();
    expect(dropped.areKnown('metal/worker-0', seen)).toBe(false);
    dropped.remember('metal/worker-0', seen);
    expect(dropped.areKnown('metal/worker-0', seen)).toBe(true);
    expect(dropped.areKnown('metal/worker-1', seen)).toBe(false);
  });

  it.each([
    ['the desired status changes', { ...seen, wanted: { status: 'True', reason: 'Attached' } }],
    ['another client has changed the status', { ...seen, found: { error: null, attachedImage: { url: 'x' } } }],
    ['it is another object with this name', { ...seen, uid: 'uid-2' }],
  ])('is written again once %s', (_, now) => {
    const dropped = createDroppedFields();
    dropped.remember('metal/worker-0', seen);
    expect(dropped.areKnown('metal/worker-0', now)).toBe(false);
  });

  it('is forgotten with its object', () => {
    const dropped = createDroppedFields();
    dropped.remember('metal/worker-0', seen);
    dropped.forget('metal/worker-0');
    expect(dropped.areKnown('metal/worker-0', seen)).toBe(false);
  });
});
