// How long a rollout takes, going by the ones before.
import type { RolloutRecord } from './facts.ts';

export interface ComingRollout {
  /** Machines that are still to change. */
  readonly nodes: number;
  /** How many go at a time. */
  readonly capacity: number;
  /** The sizes of the waves, as waveSizes has them; left out: all at once. */
  readonly waves?: readonly number[];
  /** Machines that have the target already. */
  readonly updated?: number;
  readonly soakMs?: number;
}

/** Null: no rollout before says anything about it. Zero: there is nothing to do. */
export function estimateSeconds(history: readonly RolloutRecord[], coming: ComingRollout): number | null {
  if (coming.nodes === 0) return 0;
  const perBatch = median(history.flatMap((record) => secondsPerBatch(record)));
  if (perBatch === null) return null;
  const { batches, gates } = batchesOf(coming);
  return Math.round(perBatch * batches + gates * ((coming.soakMs ?? 0) / 1000));
}

/** Only what reached every machine took its whole time; a way back touches a few machines and says little. */
function secondsPerBatch({ outcome, nodes, capacity, startedAt, endedAt }: RolloutRecord): number[] {
  const ms = Date.parse(endedAt) - Date.parse(startedAt);
  if ((outcome !== 'completed' && outcome !== 'rolled back') || nodes === 0 || ms <= 0) return [];
  return [ms / 1000 / Math.ceil(nodes / Math.max(1, capacity))];
}

/** No machine of a wave goes before the wave before is well, so that each wave has batches of its own. */
function batchesOf({ nodes, capacity, waves = [], updated = 0 }: ComingRollout): { batches: number; gates: number } {
  const all = updated + nodes;
  const ends = [...waves.filter((size) => size > updated && size < all), all];
  let batches = 0;
  let start = updated;
  for (const end of ends) {
    batches += Math.ceil((end - start) / Math.max(1, capacity));
    start = end;
  }
  return { batches, gates: ends.length - 1 };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1];
  const high = sorted[Math.floor(middle)];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
