import { renderProblemsAnnotation } from '@slipway/api';
import { encodeProblems, type PoolStatus } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { AT, record, state } from './testing/sample-rollout.ts';
import { buildRolloutEvents, mergeStatus, readRenderProblem, buildStatusPatch } from './write-status.ts';

const now = new Date('2026-01-02T03:04:05Z');
const later = new Date('2026-01-02T04:00:00Z');
const wanted: PoolStatus = {
  observedGeneration: 3,
  machineCount: 5,
  updatedMachineCount: 4,
  readyMachineCount: 4,
  unavailableMachineCount: 1,
  degradedMachineCount: 0,
  conditions: [
    { type: 'Updated', status: 'False', reason: '', message: '' },
    { type: 'Updating', status: 'True', reason: '', message: 'one is on its way' },
  ],
};

describe('the status of a pool', () => {
  it('says since when each condition is so', () => {
    expect(mergeStatus(undefined, wanted, now)?.conditions).toEqual([
      { ...wanted.conditions[0], lastTransitionTime: '2026-01-02T03:04:05Z' },
      { ...wanted.conditions[1], lastTransitionTime: '2026-01-02T03:04:05Z' },
    ]);
  });

  it('is not written where it says so already, in whatever order the server has its fields', () => {
    const status = mergeStatus(undefined, wanted, now) ?? {};
    const stored = Object.fromEntries(Object.entries(status).toReversed());
    expect(mergeStatus(stored, wanted, later)).toBeNull();
  });

  it('keeps the time of a condition whose message alone changes', () => {
    const status = mergeStatus(undefined, wanted, now) ?? {};
    const [updated, updating] = wanted.conditions;
    if (updated === undefined || updating === undefined) throw new Error('both are there');
    const next = mergeStatus(status, { ...wanted, conditions: [updated, { ...updating, message: 'two are' }] }, later);
    expect(next?.conditions?.[1]).toMatchObject({ message: 'two are', lastTransitionTime: '2026-01-02T03:04:05Z' });
  });

  it('takes away what the configuration before had and this one has not', () => {
    const before = { configuration: { name: 'rendered-worker-2', source: [{ name: '00-worker' }] } };
    expect(buildStatusPatch(before, { configuration: { name: 'rendered-worker-1' } })).toEqual({
      configuration: { name: 'rendered-worker-1', source: null },
    });
  });

  it('loses the stream and what is said of it when streams are not used any more', () => {
    const deprecated = { type: 'OSStreamDeprecated', status: 'False', reason: 'AsExpected', message: '' } as const;
    const using = { ...wanted, osImageStream: { name: 'rhel-9' }, conditions: [...wanted.conditions, deprecated] };
    const before = mergeStatus(undefined, using, now) ?? {};
    expect(before).toMatchObject({ osImageStream: { name: 'rhel-9' } });
    expect(mergeStatus(before, using, later)).toBeNull();
    const next = mergeStatus(before, wanted, later) ?? {};
    expect(next.conditions?.map(({ type }) => type)).toEqual(['Updated', 'Updating']);
    expect(buildStatusPatch(before, next)).toMatchObject({ osImageStream: null });
    const { osImageStream: _, ...left } = before;
    expect(buildStatusPatch(left, next)).not.toHaveProperty('osImageStream');
    expect(mergeStatus({ ...next, osImageStream: { name: 'rhel-9' } }, wanted, later)).not.toBeNull();
  });

  it('loses what is said of pinned images when images are not pinned any more', () => {
    const degraded = { type: 'PinnedImageSetsDegraded', status: 'False', reason: 'AsExpected', message: '' } as const;
    const counts = {
      poolSynchronizerType: 'PinnedImageSets',
      machineCount: 3,
      updatedMachineCount: 1,
      readyMachineCount: 1,
      availableMachineCount: 3,
      unavailableMachineCount: 0,
      observedGeneration: 4,
    } as const;
    const pinning = {
      ...wanted,
      poolSynchronizersStatus: [counts],
      conditions: [...wanted.conditions, degraded],
    };
    const before = mergeStatus(undefined, pinning, now) ?? {};
    expect(before).toMatchObject({ poolSynchronizersStatus: [counts] });
    expect(mergeStatus(before, pinning, later)).toBeNull();
    const further = { ...pinning, poolSynchronizersStatus: [{ ...counts, updatedMachineCount: 2 }] };
    expect(mergeStatus(before, further, later)).toMatchObject({
      poolSynchronizersStatus: [{ updatedMachineCount: 2 }],
    });
    const next = mergeStatus(before, wanted, later) ?? {};
    expect(next.conditions?.map(({ type }) => type)).toEqual(['Updated', 'Updating']);
    expect(buildStatusPatch(before, next)).toMatchObject({ poolSynchronizersStatus: null });
  });

  it('keeps conditions that it knows nothing of', () => {
    const other = { type: 'PoolSynchronizerDegraded', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
    expect(mergeStatus({ conditions: [other] }, wanted, now)?.conditions).toContainEqual(other);
  });
});

describe('what is wrong with the render of a pool', () => {
  const pool = (annotations: Record<string, string>) => ({ metadata: { name: 'worker', annotations }, spec: {} });

  it('is nothing where the render controller has left nothing', () => {
    expect(readRenderProblem(pool({}))).toBeNull();
  });

  it('is each problem on its line, with its code', () => {
    const problems = [
      { code: 'SLW_RENDER_PARSE', message: 'MachineConfig 99-a: no JSON' },
      { code: 'SLW_RENDER_MODE', message: 'MachineConfig 99-b: mode' },
    ];
    expect(readRenderProblem(pool({ [renderProblemsAnnotation]: encodeProblems(problems) }))).toEqual({
      reason: 'RenderFailed',
      message: 'MachineConfig 99-a: no JSON [SLW_RENDER_PARSE]\nMachineConfig 99-b: mode [SLW_RENDER_MODE]',
    });
  });
});

const halted = { at: AT, node: 'worker-1', reason: 'web.service does not start' };
const hold = { kind: 'return', instead: 'rendered-worker-3', at: AT, why: 'node worker-1 failed' } as const;
const decision = { state, ended: null, summary: 'Begins with worker-1' };

describe('people hear', () => {
  it.each([
    ['that a rollout begins', null, decision, ['Updating']],
    ['nothing while it goes on', state, { ...decision, state: { ...state, wave: 2 } }, []],
    ['nothing of one that changes no machine', null, { ...decision, state: { ...state, nodes: 0 } }, []],
    ['that it is complete', state, { ...decision, state: { ...state, endedAt: AT }, ended: record }, ['Completed']],
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
    expect(buildRolloutEvents(before, after).map(({ reason }) => reason)).toEqual(reasons);
  });

  it('which node failed, and why', () => {
    const [happening] = buildRolloutEvents(state, { ...decision, state: { ...state, halted } });
    expect(happening).toMatchObject({
      type: 'Warning',
      message: expect.stringContaining('worker-1 failed: web.service'),
    });
  });
});
