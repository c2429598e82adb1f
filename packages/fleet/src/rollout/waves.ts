// Which wave of a rollout is under way, and whether the next one may begin.
import { isKnownGood } from './course.ts';
import type { NodeFacts, PoolFacts, RolloutState } from './facts.ts';
import { isTolerated } from './halt.ts';
import { waveSizes } from './policy.ts';
import type { Stand } from './standing.ts';

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

export function waveOf(before: RolloutState, pool: PoolFacts, stands: readonly Stand[], now: number): WaveView {
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
function isWaitedFor({ node, standing }: Stand, state: RolloutState): boolean {
  if (standing === 'well') return false;
  return !((standing === 'failed' || !node.isReady) && isTolerated(node, state));
}
