// Which wave of a rollout is under way, and whether the next one may begin.
import type { NodeFacts, PoolFacts, RolloutRecord, RolloutState } from './facts.ts';
import { isKnownGood, isTolerated } from './lifecycle.ts';
import type { NodeState } from './node-state.ts';
import { waveSizes } from './policy.ts';

export interface WaveView {
  readonly state: RolloutState;
  readonly number: number;
  readonly of: number;
  /** How many machines may have the target. */
  readonly size: number;
  /** Machines that were given the target, whether they have it yet or not. */
  readonly given: number;
  /** Those of them that the next wave waits for. */
  readonly unwell: readonly NodeFacts[];
  /** When the next wave may begin if all stays well; null: that is not a question of time. */
  readonly soaksUntil: number | null;
}

export function computeWave(
  before: RolloutState,
  pool: PoolFacts,
  stands: readonly NodeState[],
  now: number,
): WaveView {
  const isPlain = isKnownGood(before, pool);
  const sizes = isPlain ? [stands.length] : waveSizes(pool.policy, stands.length);
  const given = stands.filter(({ standing }) => standing === 'well' || standing === 'moving' || standing === 'failed');
  const unwell = given.filter((stand) => isWaitedFor(stand, before)).map(({ node }) => node);
  const full = unwell.length === 0 && before.halted === null ? given.length : -1;
  const first = { wave: Math.max(1, Math.min(before.wave, sizes.length)), healthySince: before.healthySince };
  const { wave, healthySince, soaksUntil } = advance(first, { sizes, full, soakMs: pool.policy.soakMs, now });
  const isSame = isPlain || (wave === before.wave && healthySince === before.healthySince);
  return {
    state: isSame ? before : { ...before, wave, healthySince },
    number: wave,
    of: Math.max(1, sizes.length),
    size: sizes[wave - 1] ?? 0,
    given: given.length,
    unwell,
    soaksUntil,
  };
}

interface Gate {
  readonly sizes: readonly number[];
  /** How many machines are well with the target; -1 while one of them is not. */
  readonly full: number;
  readonly soakMs: number;
  readonly now: number;
}

type Position = Pick<RolloutState, 'wave' | 'healthySince'>;

function advance(from: Position, { sizes, full, soakMs, now }: Gate): Position & Pick<WaveView, 'soaksUntil'> {
  let { wave, healthySince } = from;
  while (wave < sizes.length && full >= (sizes[wave - 1] ?? 0)) {
    healthySince ??= new Date(now).toISOString();
    const soaksUntil = Date.parse(healthySince) + soakMs;
    if (now < soaksUntil) return { wave, healthySince, soaksUntil };
    wave += 1;
    healthySince = null;
  }
  return { wave, healthySince: null, soaksUntil: null };
}

/** A machine that failed, or that was away already, is not waited for once somebody has said to go on without it. */
function isWaitedFor({ node, standing }: NodeState, state: RolloutState): boolean {
  if (standing === 'well') return false;
  return !((standing === 'failed' || !node.isReady) && isTolerated(node, state));
}

// How long a rollout takes, going by the ones before.

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
  const { batches, gates } = countBatches(coming);
  return Math.round(perBatch * batches + gates * ((coming.soakMs ?? 0) / 1000));
}

/** Only what reached every machine took its whole time; a way back touches a few machines and says little. */
function secondsPerBatch({ outcome, nodes, capacity, startedAt, endedAt }: RolloutRecord): number[] {
  const ms = Date.parse(endedAt) - Date.parse(startedAt);
  if ((outcome !== 'completed' && outcome !== 'rolled back') || nodes === 0 || ms <= 0) return [];
  return [ms / 1000 / Math.ceil(nodes / Math.max(1, capacity))];
}

/** No machine of a wave goes before the wave before is well, so that each wave has batches of its own. */
function countBatches({ nodes, capacity, waves = [], updated = 0 }: ComingRollout): { batches: number; gates: number } {
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
