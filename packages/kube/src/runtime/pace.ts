// When a key may run, if it may not at once: after a burst of changes, and not too soon after its last run.
import type { Key } from '../client/resource.ts';
import type { Clock } from './clock.ts';

export interface PaceOptions {
  /** How long nothing may have changed. */
  settleMs(this: void, key: Key): number;
  /** From the start of one run to the start of the next. */
  minIntervalMs(this: void, key: Key): number;
  clock: Clock;
}

export interface Pace {
  /** Something that the key is decided on has changed. */
  changed(key: Key): void;
  /** Milliseconds until the key may run; 0: it starts now. */
  start(key: Key): number;
}

/** However long a burst lasts, in times of `settleMs`. */
const LONGEST_BURST = 12;

/** Only delays, so that they may be forgotten in a restart. */
export function createPace({ settleMs, minIntervalMs, clock }: PaceOptions): Pace {
  const bursts = new Map<Key, { readonly since: number; last: number }>();
  /** The oldest first. */
  const started = new Map<Key, number>();

  function untilSettled(key: Key, now: number): number {
    const burst = bursts.get(key);
    if (burst === undefined) return 0;
    const quietMs = settleMs(key);
    return Math.min(burst.last + quietMs, burst.since + LONGEST_BURST * quietMs) - now;
  }

  function untilNextRun(key: Key, now: number): number {
    const last = started.get(key);
    return last === undefined ? 0 : last + minIntervalMs(key) - now;
  }

  /** Nothing is kept of keys that do not wait. */
  function note(key: Key, now: number): void {
    bursts.delete(key);
    const interval = minIntervalMs(key);
    for (const [old, at] of started) {
      if (now - at < interval) break;
      started.delete(old);
    }
    started.delete(key);
    if (interval > 0) started.set(key, now);
  }

  return {
    changed(key) {
      const now = clock.now();
      const burst = bursts.get(key);
      if (burst === undefined) bursts.set(key, { since: now, last: now });
      else burst.last = now;
    },
    start(key) {
      const now = clock.now();
      const wait = Math.max(untilSettled(key, now), untilNextRun(key, now));
      if (wait > 0) return wait;
      note(key, now);
      return 0;
    },
  };
}
