import { describe, expect, it } from 'vitest';
import { at, record, state } from './sample-rollout.ts';
import { happeningsOf } from './tell.ts';

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
