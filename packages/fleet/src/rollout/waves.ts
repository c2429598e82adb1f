// The current wave of a rollout, and whether the next one may start.
import type { NodeFacts, PoolFacts, RolloutRecord, RolloutState } from './facts.ts';
import { isKnownGood, isTolerated, provenConfig } from './lifecycle.ts';
import type { NodeState, NodeStateKind } from './node-state.ts';
import { waveSizes } from './policy.ts';

export interface WaveView {
  readonly state: RolloutState;
  readonly number: number;
  readonly of: number;
  /** How many machines may have the target. */
  readonly size: number;
  /**
   * Machines that were assigned the target, whether they have it yet or not. In the first wave without those that
   * reported it before.
   */
  readonly given: number;
  /** Those of them that the next wave waits for. */
  readonly unwell: readonly NodeFacts[];
  /** When the next wave may start if all machines stay healthy; null: it does not wait for a soak time. */
  readonly soaksUntil: number | null;
}

export function computeWave(
  before: RolloutState,
  pool: PoolFacts,
  stands: readonly NodeState[],
  now: number,
): WaveView {
  const nodes = stands.map(({ node }) => node);
  const isPlain = isKnownGood(before, provenConfig(pool, nodes));
  const sizes = isPlain ? [stands.length] : waveSizes(pool.policy, stands.length);
  const given = stands.filter(({ standing }) => assignedStates.has(standing));
  const unwell = given.filter((stand) => isWaitedFor(stand, before)).map(({ node }) => node);
  // A machine can report any config as its own: only one that was updated to the target counts as a canary.
  const updated = given.filter(({ node }) => !node.hadItBefore).length;
  const first = { wave: Math.max(1, Math.min(before.wave, sizes.length)), healthySince: before.healthySince };
  const isTried = first.wave > 1 || updated >= (sizes[0] ?? 0);
  const full = unwell.length === 0 && before.halted === null && isTried ? given.length : -1;
  const { wave, healthySince, soaksUntil } = advance(first, { sizes, full, soakMs: pool.policy.soakMs, now });
  const isSame = isPlain || (wave === before.wave && healthySince === before.healthySince);
  return {
    state: isSame ? before : { ...before, wave, healthySince },
    number: wave,
    of: Math.max(1, sizes.length),
    size: sizes[wave - 1] ?? 0,
    given: wave === 1 ? updated : given.length,
    unwell,
    soaksUntil,
  };
}

const assignedStates: ReadonlySet<NodeStateKind> = new Set(['well', 'moving', 'failed', 'drifted']);

interface Gate {
  readonly sizes: readonly number[];
  /** How many machines are healthy with the target; -1 while one of them is not. */
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

/** After `resume`, the next wave does not wait for a machine that failed, had drifted or was down by then. */
function isWaitedFor({ node, standing }: NodeState, state: RolloutState): boolean {
  if (standing === 'well') return false;
  const isStopped = standing === 'failed' || standing === 'drifted' || !node.isReady;
  return !(isStopped && isTolerated(node, state));
}

// How long a rollout takes, estimated from past ones.

export interface ComingRollout {
  /** Machines that have not changed yet. */
  readonly nodes: number;
  /** How many are updated at a time. */
  readonly capacity: number;
  /** The sizes of the waves, from waveSizes; omitted: no waves. */
  readonly waves?: readonly number[];
  /** Machines that already have the target. */
  readonly updated?: number;
  readonly soakMs?: number;
}

/** Null: there is no past rollout to estimate from. Zero: there is nothing to do. */
export function estimateSeconds(history: readonly RolloutRecord[], coming: ComingRollout): number | null {
  if (coming.nodes === 0) return 0;
  const perBatch = median(history.flatMap((record) => secondsPerBatch(record)));
  if (perBatch === null) return null;
  const { batches, gates } = countBatches(coming);
  return Math.round(perBatch * batches + gates * ((coming.soakMs ?? 0) / 1000));
}

/** Only rollouts that reached every machine count; a cancel or an automatic rollback touches too few. */
function secondsPerBatch({ outcome, nodes, capacity, startedAt, endedAt }: RolloutRecord): number[] {
  const ms = Date.parse(endedAt) - Date.parse(startedAt);
  if ((outcome !== 'completed' && outcome !== 'rolled back') || nodes === 0 || ms <= 0) return [];
  return [ms / 1000 / Math.ceil(nodes / Math.max(1, capacity))];
}

/** A wave starts only when the previous one is healthy, so each wave has separate batches. */
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
