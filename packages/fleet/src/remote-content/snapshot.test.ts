import { refreshAnnotation } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { indexAnnotations, readSnapshotState } from './snapshot.ts';
import { buildIndex, machineConfigWith } from './testing/objects.ts';

const digest = 'a'.repeat(64);
const ready = { state: 'ready', digest, chunks: 2, fetchedAt: '2026-01-01T00:00:00.000Z' } as const;
const problem = { code: 'SLW_RESOLVE_FETCH', field: 'spec.config.storage', message: 'no answer' };
const failed = { state: 'failed', problems: [problem], attempts: 3, retryAt: '2026-01-01T00:01:00.000Z' } as const;
const then = machineConfigWith();

describe('the state of a snapshot', () => {
  it.each([
    ['ready', then, ready, { state: 'ready', digest, chunks: 2 }],
    ['ready again after a recovery', then, { ...ready, recoveredAt: 'now' }, { state: 'ready', digest, chunks: 2 }],
    ['failed, with the reason and the time of the retry', then, failed, failed],
    ['lost', then, { state: 'lost', digest, message: 'gone' }, { state: 'lost', digest, message: 'gone' }],
    ['pending for a recreated MachineConfig', machineConfigWith({ uid: 'uid-2' }), ready, { state: 'pending' }],
    ['pending after an edit', machineConfigWith({ generation: 2 }), ready, { state: 'pending' }],
    [
      'pending after an edit that follows a failure',
      machineConfigWith({ generation: 2 }),
      failed,
      { state: 'pending' },
    ],
    [
      'pending when a refresh is requested',
      machineConfigWith({ annotations: { [refreshAnnotation]: 'monday' } }),
      ready,
      { state: 'pending' },
    ],
  ] as const)('is %s', (_, now, outcome, state) => {
    expect(readSnapshotState(now, buildIndex(then, outcome))).toEqual(state);
  });

  it('is pending without an index', () => {
    expect(readSnapshotState(then, undefined)).toEqual({ state: 'pending' });
  });

  it('stays with the refresh that it was fetched for, and changes with its value', () => {
    const monday = machineConfigWith({ annotations: { [refreshAnnotation]: 'monday' } });
    const tuesday = machineConfigWith({ annotations: { [refreshAnnotation]: 'tuesday' } });
    expect(readSnapshotState(monday, buildIndex(monday, ready)).state).toBe('ready');
    expect(readSnapshotState(tuesday, buildIndex(monday, ready)).state).toBe('pending');
    expect(readSnapshotState(then, buildIndex(monday, ready)).state).toBe('pending');
  });

  it.each([
    [indexAnnotations.chunks, '0'],
    [indexAnnotations.chunks, '9999'],
    [indexAnnotations.chunks, 'many'],
    [indexAnnotations.problems, '{"not":"a list"}'],
    [indexAnnotations.problems, 'no JSON'],
  ])('is never ready from an index whose %s was edited to %s', (annotation, value) => {
    const index = buildIndex(then, ready);
    index.metadata.annotations = { ...index.metadata.annotations, [annotation]: value };
    expect(readSnapshotState(then, index).state).not.toBe('ready');
  });
});
