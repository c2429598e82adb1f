import { refreshAnnotation, remoteContentAnnotation } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { nextStep, retryDelayMs } from './next-step.ts';
import { type IndexOutcome, rememberedValue, readSnapshotRequest } from './snapshot.ts';
import { type MachineConfigInput, buildIndex, machineConfigWith } from './testing/objects.ts';

const digest = 'd'.repeat(64);
const now = new Date('2026-01-01T12:00:00.000Z');
const inSeconds = (seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString();
const ready: IndexOutcome = { state: 'ready', digest, chunks: 1, fetchedAt: inSeconds(-60) };
const lost: IndexOutcome = { state: 'lost', digest, message: 'gone' };
const failed = (seconds: number): IndexOutcome => ({
  state: 'failed',
  problems: [],
  attempts: 2,
  retryAt: inSeconds(seconds),
});

const before = machineConfigWith();
const value = rememberedValue(readSnapshotRequest(before), digest);
/** One with its first snapshot recorded. */
const remembering = (given: MachineConfigInput = {}) =>
  machineConfigWith({ ...given, annotations: { [remoteContentAnnotation]: value, ...given.annotations } });
const refreshed = { annotations: { [refreshAnnotation]: 'monday' } };

describe('the next step for a MachineConfig with remote content', () => {
  it.each([
    ['is to fetch what was never fetched', before, undefined, { do: 'fetch', attempt: 1 }],
    ['is to fetch after an edit', remembering({ generation: 2 }), ready, { do: 'fetch', attempt: 1 }],
    ['is to fetch when a refresh is requested', remembering(refreshed), ready, { do: 'fetch', attempt: 1 }],
    [
      'is to fetch immediately when an edit follows a failure',
      machineConfigWith({ generation: 2 }),
      failed(500),
      { do: 'fetch', attempt: 1 },
    ],
    [
      'is to fetch immediately when a refresh follows a failure',
      machineConfigWith(refreshed),
      failed(500),
      { do: 'fetch', attempt: 1 },
    ],
    ['is to fetch when a refresh follows a loss', remembering(refreshed), lost, { do: 'fetch', attempt: 1 }],
    [
      'is to fetch for a MachineConfig that was recreated with the old annotation',
      remembering({ uid: 'uid-2' }),
      undefined,
      { do: 'fetch', attempt: 1 },
    ],
    ['is to fetch again when it is time', before, failed(0), { do: 'fetch', attempt: 3 }],
    ['is to wait until it is time', before, failed(20), { do: 'wait', ms: 20_000 }],
    ['is never to wait longer than ten minutes', before, failed(86_400), { do: 'wait', ms: 600_000 }],
    ['is to record a snapshot that is ready', before, ready, { do: 'remember', value }],
    ['is nothing once it is recorded', remembering(), ready, { do: 'nothing' }],
    ['is to restore a snapshot whose index is missing', remembering(), undefined, { do: 'restore', digest }],
    [
      'is to restore when a failed refresh is withdrawn',
      remembering(),
      buildIndex(machineConfigWith(refreshed), failed(10)),
      { do: 'restore', digest },
    ],
    ['is to restore a lost snapshot again', remembering(), lost, { do: 'restore', digest }],
  ] as const)('%s', (_, machineConfig, index, step) => {
    const secret = index === undefined || 'metadata' in index ? index : buildIndex(before, index);
    expect(nextStep({ machineConfig, index: secret, hasChunks: () => true, now })).toEqual(step);
  });

  it('is to restore a snapshot with a missing chunk, and never to fetch it', () => {
    const situation = { machineConfig: remembering(), index: buildIndex(before, ready), hasChunks: () => false, now };
    expect(nextStep(situation)).toEqual({ do: 'restore', digest });
  });
});

it('retries after half a minute, then less often, at least every ten minutes', () => {
  expect([1, 2, 3, 4, 5, 6, 1000].map(retryDelayMs)).toEqual([
    30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000,
  ]);
});
