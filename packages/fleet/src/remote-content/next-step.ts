// What is to be done about one MachineConfig that has remote content.
import { type Backoff, backoffMs } from '@slipway/base/backoff';
import type { MachineConfig, Secret } from '@slipway/api';
import {
  remembered,
  rememberedValue,
  readSnapshotRequest,
  type Snapshot,
  type SnapshotState,
  readSnapshotState,
} from './snapshot.ts';

export type Step =
  | { do: 'nothing' }
  | { do: 'wait'; ms: number }
  /** The first fetch for this state of the MachineConfig has number 1. */
  | { do: 'fetch'; attempt: number }
  /** There was a snapshot: find it again, but do not fetch. */
  | { do: 'restore'; digest: string }
  /** The MachineConfig does not remember its snapshot yet. */
  | { do: 'remember'; value: string };

export interface Situation {
  machineConfig: MachineConfig;
  index: Secret | undefined;
  hasChunks: (snapshot: Snapshot) => boolean;
  now: Date;
}

const retries: Backoff = { firstMs: 30_000, maxMs: 10 * 60_000 };

/** How long after a failed attempt the next one comes, however it failed: also a wrong hash may be put right at the server. */
export const retryDelayMs = (attempt: number): number => backoffMs(retries, attempt);

export function nextStep({ machineConfig, index, hasChunks, now }: Situation): Step {
  const state = readSnapshotState(machineConfig, index);
  switch (state.state) {
    case 'ready':
      return hasChunks(state) ? afterReady(machineConfig, state.digest) : { do: 'restore', digest: state.digest };
    case 'lost':
      return { do: 'restore', digest: state.digest };
    case 'failed':
      return afterFailure(state, now);
    case 'pending':
      return whenUnknown(machineConfig);
  }
}

function afterReady(machineConfig: MachineConfig, digest: string): Step {
  const value = rememberedValue(readSnapshotRequest(machineConfig), digest);
  const known = remembered(machineConfig);
  const isKnown = known !== undefined && rememberedValue(known, known.digest) === value;
  return isKnown ? { do: 'nothing' } : { do: 'remember', value };
}

function afterFailure({ retryAt, attempts }: SnapshotState & { state: 'failed' }, now: Date): Step {
  const ms = Date.parse(retryAt) - now.getTime();
  // Longer than any delay of ours was not written by us, or the clock was put back.
  return ms > 0 ? { do: 'wait', ms: Math.min(ms, retries.maxMs) } : { do: 'fetch', attempt: attempts + 1 };
}

function whenUnknown(machineConfig: MachineConfig): Step {
  const known = remembered(machineConfig);
  const { generation, refresh } = readSnapshotRequest(machineConfig);
  const had = known !== undefined && known.generation === generation && known.refresh === refresh;
  return had ? { do: 'restore', digest: known.digest } : { do: 'fetch', attempt: 1 };
}
