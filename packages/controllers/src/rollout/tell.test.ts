import type { RolloutRecord, RolloutState } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { happeningsOf } from './tell.ts';

const at = '2026-01-02T03:04:05.000Z';
const state: RolloutState = {
  target: 'rendered-worker-2',
  from: 'rendered-worker-1',
  startedAt: at,
  endedAt: null,
  nodes: 3,
  fromOsMajor: null,
  wave: 1,
  healthySince: null,
  resumedAt: null,
  halted: null,
  hold: null,
  answer: null,
};
const record: RolloutRecord = {
  config: 'rendered-worker-2',
  from: 'rendered-worker-1',
  startedAt: at,
  endedAt: at,
  outcome: 'completed',
  nodes: 3,
  capacity: 1,
  why: 'it is what was rendered last',
};
const halted = { at, node: 'worker-1', reason: 'web.service does not start' };
const hold = { kind: 'return', instead: 'rendered-worker-3', at, why: 'node worker-1 failed' } as const;
const decision = { state, ended: null, summary: 'Begins with worker-1' };

describe('people hear', () => {
  it.each([
    ['that a rollout begins', null, decision, ['Updating']],
    ['nothing while it goes on', state, { ...decision, state: { ...state, wave: 2 } }, []],
    ['nothing of one that changes no machine', null, { ...decision, state: { ...state, nodes: 0 } }, []],
    ['that it is complete', state, { ...decision, state: { ...state, endedAt: at }, ended: record }, ['Completed']],
    [
      'that another took its place',
      state,
      { ...decision, ended: { ...record, outcome: 'superseded' as const } },
      ['RolloutEnded'],
    ],
    ['that it halted, once', state, { ...decision, state: { ...state, halted } }, ['RolloutHalted']],
    ['nothing new of a halt', { ...state, halted }, { ...decision, state: { ...state, halted } }, []],
    ['that the target is held', state, { ...decision, state: { ...state, hold } }, ['RolloutHeld']],
  ])('%s', (_, before, after, reasons) => {
    expect(happeningsOf(before, after).map(({ reason }) => reason)).toEqual(reasons);
  });

  it('which node failed, and why', () => {
    const [happening] = happeningsOf(state, { ...decision, state: { ...state, halted } });
    expect(happening).toMatchObject({
      type: 'Warning',
      message: expect.stringContaining('worker-1 failed: web.service'),
    });
  });
});
