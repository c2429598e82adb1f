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
  it('has the time of each condition’s last transition', () => {
    expect(mergeStatus(undefined, wanted, now)?.conditions).toEqual([
      { ...wanted.conditions[0], lastTransitionTime: '2026-01-02T03:04:05Z' },
      { ...wanted.conditions[1], lastTransitionTime: '2026-01-02T03:04:05Z' },
    ]);
  });

  it('is not written without a change, whatever the order of the server’s fields', () => {
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

  it('removes fields that only the previous configuration had', () => {
    const before = { configuration: { name: 'rendered-worker-2', source: [{ name: '00-worker' }] } };
    expect(buildStatusPatch(before, { configuration: { name: 'rendered-worker-1' } })).toEqual({
      configuration: { name: 'rendered-worker-1', source: null },
    });
  });

  it('loses the stream and its conditions when streams are no longer used', () => {
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

  it('loses the conditions of pinned images when images are no longer pinned', () => {
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

  it('keeps conditions of other controllers', () => {
    const other = { type: 'PoolSynchronizerDegraded', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
    expect(mergeStatus({ conditions: [other] }, wanted, now)?.conditions).toContainEqual(other);
  });
});

describe('the render problem of a pool', () => {
  const pool = (annotations: Record<string, string>) => ({ metadata: { name: 'worker', annotations }, spec: {} });

  it('is null without the render controller’s annotation', () => {
    expect(readRenderProblem(pool({}))).toBeNull();
  });

  it('has each problem on one line, with its code', () => {
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
const decision = { state, ended: null, summary: 'Starting with worker-1' };

describe('a rollout records an event', () => {
  it.each([
    ['when it starts', null, decision, ['Updating']],
    ['but none while it progresses', state, { ...decision, state: { ...state, wave: 2 } }, []],
    ['but none if it changes no machine', null, { ...decision, state: { ...state, nodes: 0 } }, []],
    ['when it is complete', state, { ...decision, state: { ...state, endedAt: AT }, ended: record }, ['Completed']],
    [
      'when another one supersedes it',
      state,
      { ...decision, ended: { ...record, outcome: 'superseded' as const } },
      ['RolloutEnded'],
    ],
    ['when it halts, once', state, { ...decision, state: { ...state, halted } }, ['RolloutHalted']],
    ['but none while it stays halted', { ...state, halted }, { ...decision, state: { ...state, halted } }, []],
    ['when the target is held', state, { ...decision, state: { ...state, hold } }, ['RolloutHeld']],
  ])('%s', (_, before, after, reasons) => {
    expect(buildRolloutEvents(before, after).map(({ reason }) => reason)).toEqual(reasons);
  });

  it('that names the failed node and the reason', () => {
    const [happening] = buildRolloutEvents(state, { ...decision, state: { ...state, halted } });
    expect(happening).toMatchObject({
      type: 'Warning',
      message: expect.stringContaining('worker-1 failed: web.service'),
    });
  });
});
