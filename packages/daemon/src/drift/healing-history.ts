// Since when things have drifted, and how often they were put back. In memory: a restart of the daemon begins anew.
import { HEALS_WITHIN_MS, type HealingFacts } from './decide-healing.ts';
import { type Drift, itemOf } from './drift.ts';

export interface HealingHistory extends Pick<HealingFacts, 'since' | 'healedAt' | 'givenUp'> {
  /** What a check has found. */
  noteDrifts(drifts: readonly Drift[], now: number): void;
  noteHeals(drifts: readonly Drift[], now: number): void;
  noteGivenUp(drifts: readonly Drift[]): void;
  /** For another config all begins anew. */
  clear(): void;
}

export function createHealingHistory(): HealingHistory {
  const since = new Map<string, number>();
  const healedAt = new Map<string, readonly number[]>();
  const givenUp = new Set<string>();
  return {
    since,
    healedAt,
    givenUp,

    noteDrifts(drifts, now) {
      const items = new Set(drifts.map(itemOf));
      for (const item of since.keys()) if (!items.has(item)) since.delete(item);
      for (const item of items) since.set(item, since.get(item) ?? now);
      for (const [item, times] of healedAt) {
        if (times.every((at) => now - at >= HEALS_WITHIN_MS)) healedAt.delete(item);
      }
    },

    noteHeals(drifts, now) {
      for (const item of new Set(drifts.map(itemOf))) {
        healedAt.set(item, [...(healedAt.get(item) ?? []).filter((at) => now - at < HEALS_WITHIN_MS), now]);
      }
    },

    noteGivenUp(drifts) {
      for (const drift of drifts) givenUp.add(itemOf(drift));
    },

    clear() {
      since.clear();
      healedAt.clear();
      givenUp.clear();
    },
  };
}
