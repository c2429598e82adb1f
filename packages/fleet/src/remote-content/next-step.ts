// The next step for a MachineConfig with remote content.
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
  /** The first fetch for this generation of the MachineConfig is attempt 1. */
  | { do: 'fetch'; attempt: number }
  /** The snapshot is missing: recover it, but do not fetch. */
  | { do: 'restore'; digest: string }
  /** Record the snapshot on the MachineConfig. */
  | { do: 'remember'; value: string };

export interface Situation {
  machineConfig: MachineConfig;
  index: Secret | undefined;
  hasChunks: (snapshot: Snapshot) => boolean;
  now: Date;
}

const retries: Backoff = { firstMs: 30_000, maxMs: 10 * 60_000 };

/** The delay after any failed attempt: even a wrong hash may be corrected on the server. */
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
  // A longer delay means that another client wrote it, or the clock was set back.
  return ms > 0 ? { do: 'wait', ms: Math.min(ms, retries.maxMs) } : { do: 'fetch', attempt: attempts + 1 };
}

function whenUnknown(machineConfig: MachineConfig): Step {
  const known = remembered(machineConfig);
  const { generation, refresh } = readSnapshotRequest(machineConfig);
  const had = known !== undefined && known.generation === generation && known.refresh === refresh;
  return had ? { do: 'restore', digest: known.digest } : { do: 'fetch', attempt: 1 };
}
