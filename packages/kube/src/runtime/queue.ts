import type { Key } from '../client/resource.ts';
import { type Backoff, backoffMs, halfJitter } from '@slipway/base/backoff';
import { type Clock, systemClock } from '@slipway/base/clock';

/** Result of a run; `held`: the key may not run yet, and nothing was done. */
export type RunOutcome =
  | { type: 'done' }
  | { type: 'held'; afterMs?: number }
  | { type: 'again'; afterMs: number }
  | { type: 'retry'; atLeastMs?: number | undefined; atMostMs?: number | undefined };

export interface AddOptions {
  afterMs?: number | undefined;
  /** Only a periodic resync, without any change: queued behind real changes. */
  resync?: boolean | undefined;
}

export interface Queue {
  add(key: Key, options?: AddOptions): void;
  start(): void;
  /** Accepts no more keys and drops waiting ones; resolves when the running ones have finished. */
  stop(): Promise<void>;
  /** Keys that are ready and wait for a worker. */
  readonly depth: number;
  readonly running: number;
}

export interface QueueOptions {
  workers: number;
  /** Must not reject; a rejection counts as a retry. `waitedMs` is how long the key was ready. */
  handle: (key: Key, waitedMs: number) => Promise<RunOutcome>;
  clock?: Pick<Clock, 'now' | 'setTimer'>;
  random?: (() => number) | undefined;
}

/**
 * Up to half of the wait is subtracted at random, so that keys that failed together spread out. No watch reports that a
 * permission was granted or a webhook works again, and an administrator may be waiting for that.
 */
export const retries: Backoff = { firstMs: 5, maxMs: 120_000, jitter: halfJitter };
/**
 * How long earlier failures of a key can delay a change. Without any delay, a reconcile that writes and then fails is
 * triggered by its own write and never backs off; with the whole backoff, a fix would wait 2 minutes.
 */
const MAX_HOLD_MS = 1000;
/** While both lanes wait, one of this many keys is a resync: behind real changes, but never starved. */
const RESYNC_EVERY = 8;

/** First in, first out; contains each key once. */
class Lane {
  readonly #readySince = new Map<Key, number>();
  // One iterator for all calls: it continues after the last key, where a new one would scan every hole again.
  #next = this.#readySince.keys();

  get size(): number {
    return this.#readySince.size;
  }

  has(key: Key): boolean {
    return this.#readySince.has(key);
  }

  push(key: Key, now: number): void {
    this.#readySince.set(key, now);
  }

  delete(key: Key): void {
    this.#readySince.delete(key);
  }

  shift(): { key: Key; since: number } | undefined {
    let next = this.#next.next();
    if (next.done === true) {
      this.#next = this.#readySince.keys();
      next = this.#next.next();
    }
    if (next.done === true) return undefined;
    const since = this.#readySince.get(next.value) ?? 0;
    this.#readySince.delete(next.value);
    return { key: next.value, since };
  }
}

interface Delayed {
  at: number;
  resync: boolean;
  cancel: () => void;
}

/**
 * A key is queued at most once and never runs concurrently: a key added while it runs, runs again afterwards.
 * Of several due times for one key, the earliest counts.
 */
export function createQueue({ workers, handle, clock = systemClock, random = Math.random }: QueueOptions): Queue {
  const changes = new Lane();
  const resyncs = new Lane();
  const delayed = new Map<Key, Delayed>();
  /** Running keys; the value is how to requeue them afterwards. */
  const running = new Map<Key, 'change' | 'resync' | undefined>();
  const failures = new Map<Key, { count: number; notBefore: number }>();
  let state: 'new' | 'started' | 'stopped' = 'new';
  let takenChanges = 0;
  let awake = false;
  let drained: (() => void) | undefined;

  function add(key: Key, { afterMs = 0, resync = false }: AddOptions = {}): void {
    if (state === 'stopped') return;
    const now = clock.now();
    const at = Math.max(now + afterMs, failures.get(key)?.notBefore ?? 0);
    if (at > now) delay(key, at, resync);
    else makeReady(key, resync);
  }

  const isReady = (key: Key): boolean => changes.has(key) || resyncs.has(key) || running.get(key) !== undefined;
  const hasRoom = (): boolean => state === 'started' && running.size < workers;

  function delay(key: Key, at: number, onlyResync: boolean): void {
    if (isReady(key)) return;
    const earlier = delayed.get(key);
    const resync = onlyResync && earlier?.resync !== false;
    if (earlier !== undefined && earlier.at <= at) {
      earlier.resync = resync;
      return;
    }
    earlier?.cancel();
    const cancel = clock.setTimer(at - clock.now(), () => makeReady(key, entry.resync));
    const entry: Delayed = { at, resync, cancel };
    delayed.set(key, entry);
  }

  function makeReady(key: Key, resync: boolean): void {
    delayed.get(key)?.cancel();
    delayed.delete(key);
    if (running.has(key)) {
      if (running.get(key) !== 'change') running.set(key, resync ? 'resync' : 'change');
      return;
    }
    if (changes.has(key)) return;
    if (resync) {
      if (!resyncs.has(key)) resyncs.push(key, clock.now());
    } else {
      resyncs.delete(key);
      changes.push(key, clock.now());
    }
    wake();
  }

  function take(): { key: Key; since: number } | undefined {
    const resyncTurn = changes.size === 0 || takenChanges >= RESYNC_EVERY - 1;
    if (resyncTurn && resyncs.size > 0) {
      takenChanges = 0;
      return resyncs.shift();
    }
    takenChanges += 1;
    return changes.shift();
  }

  /** Deferred: keys added in one tick (the lines of one chunk, old and new of one change) cause one run. */
  function wake(): void {
    if (awake) return;
    awake = true;
    queueMicrotask(dispatch);
  }

  function dispatch(): void {
    awake = false;
    while (hasRoom()) {
      const next = take();
      if (next === undefined) return;
      running.set(next.key, undefined);
      void run(next.key, clock.now() - next.since);
    }
  }

  async function run(key: Key, waitedMs: number): Promise<void> {
    let outcome: RunOutcome;
    try {
      outcome = await handle(key, waitedMs);
    } catch {
      outcome = { type: 'retry' };
    }
    const again = running.get(key);
    running.delete(key);
    settle(key, outcome);
    if (again !== undefined) add(key, { resync: again === 'resync' });
    if (running.size === 0) drained?.();
    wake();
  }

  function settle(key: Key, outcome: RunOutcome): void {
    if (outcome.type === 'held') {
      if (outcome.afterMs !== undefined) add(key, { afterMs: outcome.afterMs });
      return;
    }
    if (outcome.type !== 'retry') {
      failures.delete(key);
      if (outcome.type === 'again') add(key, { afterMs: outcome.afterMs });
      return;
    }
    const count = (failures.get(key)?.count ?? 0) + 1;
    const { atLeastMs = 0, atMostMs = Infinity } = outcome;
    const wait = Math.max(Math.min(backoffMs(retries, count, random), atMostMs), atLeastMs);
    const hold = Math.max(Math.min(wait, MAX_HOLD_MS), atLeastMs);
    failures.set(key, { count, notBefore: clock.now() + hold });
    add(key, { afterMs: wait });
  }

  return {
    add,
    start() {
      if (state === 'new') state = 'started';
      wake();
    },
    async stop() {
      state = 'stopped';
      for (const { cancel } of delayed.values()) cancel();
      delayed.clear();
      failures.clear();
      if (running.size === 0) return;
      await new Promise<void>((resolve) => {
        const earlier = drained;
        drained = () => {
          earlier?.();
          resolve();
        };
      });
    },
    get depth() {
      return changes.size + resyncs.size;
    },
    get running() {
      return running.size;
    },
  };
}

// Delays a key's run: until a burst of changes settles, and not too soon after its last run.

export interface RunThrottleOptions {
  /** How long the key must have been quiet. */
  settleMs(this: void, key: Key): number;
  /** From the start of one run to the start of the next. */
  minIntervalMs(this: void, key: Key): number;
  clock: Pick<Clock, 'now'>;
}

export interface RunThrottle {
  /** Something that the key's decision depends on has changed. */
  changed(key: Key): void;
  /** Milliseconds until the key may run; 0: it starts now. */
  start(key: Key): number;
}

/** Maximum length of a burst, in multiples of `settleMs`. */
const MAX_BURST_INTERVALS = 12;

/** Contains only delays, which a restart may forget. */
export function createRunThrottle({ settleMs, minIntervalMs, clock }: RunThrottleOptions): RunThrottle {
  const bursts = new Map<Key, { readonly since: number; last: number }>();
  /** Oldest first. */
  const started = new Map<Key, number>();

  function untilSettled(key: Key, now: number): number {
    const burst = bursts.get(key);
    if (burst === undefined) return 0;
    const quietMs = settleMs(key);
    return Math.min(burst.last + quietMs, burst.since + MAX_BURST_INTERVALS * quietMs) - now;
  }

  function untilNextRun(key: Key, now: number): number {
    const last = started.get(key);
    return last === undefined ? 0 : last + minIntervalMs(key) - now;
  }

  /** Forgets keys that no longer wait. */
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
