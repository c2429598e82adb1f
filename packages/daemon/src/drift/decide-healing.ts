// Which drifts are put back now, which later, and which no more.
import { type Drift, itemOf } from './drift.ts';
import type { DriftPolicy } from './drift-policy.ts';

export interface HealingFacts {
  readonly policy: DriftPolicy;
  readonly drifts: readonly Drift[];
  /** By item: since when it has drifted without a pause. */
  readonly since: ReadonlyMap<string, number>;
  /** By item: when it was put back. */
  readonly healedAt: ReadonlyMap<string, readonly number[]>;
  /** Items that were given up before. */
  readonly givenUp: ReadonlySet<string>;
  readonly now: number;
}

export interface HealingDecision {
  readonly heal: readonly Drift[];
  /** Somebody else writes them again and again: from now on they are only told. */
  readonly giveUp: readonly Drift[];
  /** When to decide again, from now on; null: nothing waits. */
  readonly waitMs: number | null;
}

/** Putting a thing back this often in this time shows that it does not hold. */
export const MOST_HEALS = 5;
export const HEALS_WITHIN_MS = 10 * 60_000;

export function decideHealing(facts: HealingFacts): HealingDecision {
  const { policy, now } = facts;
  if (policy.type === 'leave') return { heal: [], giveUp: [], waitMs: null };
  const open = facts.drifts.filter((drift) => drift.canHeal && !facts.givenUp.has(itemOf(drift)));
  const giveUp = open.filter((drift) => !holds(facts.healedAt.get(itemOf(drift)) ?? [], now));
  const left = open.filter((drift) => !giveUp.includes(drift));
  const wait = (drift: Drift) => (facts.since.get(itemOf(drift)) ?? now) + policy.afterMs - now;
  const waiting = left.map(wait).filter((ms) => ms > 0);
  return {
    heal: left.filter((drift) => wait(drift) <= 0),
    giveUp,
    waitMs: waiting.length === 0 ? null : Math.min(...waiting),
  };
}

function holds(healedAt: readonly number[], now: number): boolean {
  return healedAt.filter((at) => now - at < HEALS_WITHIN_MS).length < MOST_HEALS;
}
