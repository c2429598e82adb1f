// The drift policy of MachineConfiguration `cluster`, and the decision which drifts are healed now, later or no longer.
import { quote } from '@slipway/base/text';
import { driftPolicyAnnotation } from '@slipway/api/names';
import { type Drift, buildItemKey } from './drift.ts';

export type DriftPolicy =
  /** Drift is reported only. */
  | { readonly type: 'leave' }
  /** Healed once it has lasted this long. 0: immediately. */
  | { readonly type: 'heal'; readonly afterMs: number };

export type ParsedDriftPolicy =
  | { readonly ok: true; readonly policy: DriftPolicy }
  /** `problem` is human-readable. Until it is corrected, drift is reported only. */
  | { readonly ok: false; readonly policy: DriftPolicy; readonly problem: string };

export const LEAVE: DriftPolicy = { type: 'leave' };
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const MIN_HEAL_DELAY_MS = 60_000;
const MAX_HEAL_DELAY_MS = 24 * 3_600_000;

/** `text`: the value of the annotation. Undefined: not set. */
export function parseDriftPolicy(text: string | undefined): ParsedDriftPolicy {
  const value = text?.trim() ?? '';
  if (value === '' || value === 'leave') return { ok: true, policy: LEAVE };
  if (value === 'heal') return { ok: true, policy: { type: 'heal', afterMs: 0 } };
  const afterMs = parseDelay(value);
  if (afterMs >= MIN_HEAL_DELAY_MS && afterMs <= MAX_HEAL_DELAY_MS)
    return { ok: true, policy: { type: 'heal', afterMs } };
  return { ok: false, policy: LEAVE, problem: describeInvalidPolicy(value, Number.isNaN(afterMs)) };
}

/** NaN if it cannot be parsed. */
function parseDelay(value: string): number {
  const [, number = '', unit = ''] = /^heal-after=(\d{1,6})([smh])$/.exec(value) ?? [];
  return Number(number) * (UNITS[unit] ?? Number.NaN);
}

function describeInvalidPolicy(found: string, isNoPolicy: boolean): string {
  const expected = isNoPolicy ? 'leave, heal, or heal-after=10m' : 'a duration from 1m to 24h after heal-after=';
  return (
    `MachineConfiguration cluster, annotation ${driftPolicyAnnotation}: expected ${expected}, ` +
    `found ${quote(found, 80)}. Until it is corrected or removed, the daemon reports drift but does not revert it`
  );
}

export interface HealingFacts {
  readonly policy: DriftPolicy;
  readonly drifts: readonly Drift[];
  /** By item: the start of its current drift. */
  readonly since: ReadonlyMap<string, number>;
  /** By item: the times at which it was healed. */
  readonly healedAt: ReadonlyMap<string, readonly number[]>;
  /** By item: until when it is left alone because the disk refused to heal it. */
  readonly refusedUntil: ReadonlyMap<string, number>;
  /** Items that are no longer healed. */
  readonly givenUp: ReadonlySet<string>;
  readonly now: number;
}

export interface HealingDecision {
  readonly heal: readonly Drift[];
  /** Another program keeps changing them: from now on they are only reported. */
  readonly giveUp: readonly Drift[];
  /** When to decide again, in milliseconds from now. Null: nothing is pending. */
  readonly waitMs: number | null;
}

/** An item that was healed this often within this time does not stay healed. */
export const MAX_HEALS = 5;
export const HEALS_WITHIN_MS = 10 * 60_000;

/** A full disk is no program that changes the item: it is healed as soon as the disk accepts that. */
export const REFUSED_MS = 30_000;

export function decideHealing(facts: HealingFacts): HealingDecision {
  const { policy, now } = facts;
  if (policy.type === 'leave') return { heal: [], giveUp: [], waitMs: null };
  const open = facts.drifts.filter((drift) => drift.canHeal && !facts.givenUp.has(buildItemKey(drift)));
  const giveUp = open.filter((drift) => !mayHealAgain(facts.healedAt.get(buildItemKey(drift)) ?? [], now));
  const left = open.filter((drift) => !giveUp.includes(drift));
  const wait = (drift: Drift) => {
    const item = buildItemKey(drift);
    return Math.max((facts.since.get(item) ?? now) + policy.afterMs, facts.refusedUntil.get(item) ?? 0) - now;
  };
  const waiting = left.map(wait).filter((ms) => ms > 0);
  return {
    heal: left.filter((drift) => wait(drift) <= 0),
    giveUp,
    waitMs: waiting.length === 0 ? null : Math.min(...waiting),
  };
}

function mayHealAgain(healedAt: readonly number[], now: number): boolean {
  return healedAt.filter((at) => now - at < HEALS_WITHIN_MS).length < MAX_HEALS;
}

/** When items drifted, and how often they were healed. In memory: a restart of the daemon resets it. */
export interface HealingHistory extends Pick<HealingFacts, 'since' | 'healedAt' | 'refusedUntil' | 'givenUp'> {
  noteDrifts(drifts: readonly Drift[], now: number): void;
  /** `refused`: those of them that the disk refused. */
  noteHeals(drifts: readonly Drift[], refused: readonly Drift[], now: number): void;
  noteGivenUp(drifts: readonly Drift[]): void;
  /** For a new config. */
  clear(): void;
}

export function createHealingHistory(): HealingHistory {
  const since = new Map<string, number>();
  const healedAt = new Map<string, readonly number[]>();
  const refusedUntil = new Map<string, number>();
  const givenUp = new Set<string>();
  return {
    since,
    healedAt,
    refusedUntil,
    givenUp,

    noteDrifts(drifts, now) {
      const items = new Set(drifts.map(buildItemKey));
      for (const item of since.keys()) if (!items.has(item)) since.delete(item);
      for (const item of items) since.set(item, since.get(item) ?? now);
      for (const [item, times] of healedAt) {
        if (times.every((at) => now - at >= HEALS_WITHIN_MS)) healedAt.delete(item);
      }
    },

    noteHeals(drifts, refused, now) {
      const notHealed = new Set(refused.map(buildItemKey));
      for (const item of new Set(drifts.map(buildItemKey))) {
        if (notHealed.has(item)) {
          refusedUntil.set(item, now + REFUSED_MS);
          continue;
        }
        refusedUntil.delete(item);
        healedAt.set(item, [...(healedAt.get(item) ?? []).filter((at) => now - at < HEALS_WITHIN_MS), now]);
      }
    },

    noteGivenUp(drifts) {
      for (const drift of drifts) givenUp.add(buildItemKey(drift));
    },

    clear() {
      since.clear();
      healedAt.clear();
      refusedUntil.clear();
      givenUp.clear();
    },
  };
}
