import { describe, expect, it } from 'vitest';
import type { Prepared } from './prepare-update.ts';
import { createRefusals, HOLDS_MS, type Refused } from './refusal.ts';

const problem = { code: 'SLW_DAEMON_CONFIG', message: 'no such MachineConfig' };
const ready: Prepared = {
  type: 'ready',
  target: { name: 'b', spec: {} },
  plan: {
    from: 'a',
    to: 'b',
    isEmpty: true,
    changes: [],
    irreconcilable: [],
    tolerated: [],
    actions: [],
    needsDrain: false,
    causes: [],
  },
};
const missing: Refused = { type: 'refused', cause: 'config', problem };
const drifted: Refused = { type: 'refused', cause: 'drift', problem };

describe('an update that was refused', () => {
  it('is refused again without a look at the machine, for a while', () => {
    let now = 0;
    const refusals = createRefusals(() => now);
    refusals.note('a to b', missing);
    expect(refusals.answerTo('a to b')).toBe(missing);
    now = HOLDS_MS;
    expect(refusals.answerTo('a to b')).toBeNull();
    expect(refusals.isKnown('a to b')).toBe(true);
  });

  it('says nothing of another one', () => {
    const refusals = createRefusals(() => 0);
    refusals.note('a to b', missing);
    expect(refusals.answerTo('a to c')).toBeNull();
    expect(refusals.isKnown('a to c')).toBe(false);
  });

  it('is looked at again at once where drift was the reason: that it is gone is heard of', () => {
    const refusals = createRefusals(() => 0);
    refusals.note('a to b', drifted);
    expect(refusals.answerTo('a to b')).toBeNull();
    expect(refusals.isKnown('a to b')).toBe(true);
  });

  it('is forgotten when one can be begun', () => {
    const refusals = createRefusals(() => 0);
    refusals.note('a to b', drifted);
    refusals.note('a to b', ready);
    expect(refusals.isKnown('a to b')).toBe(false);
  });
});
