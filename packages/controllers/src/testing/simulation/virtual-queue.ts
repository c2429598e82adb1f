// The work of one controller in virtual time. As in the real queue a key waits at most once and never runs twice at a time;
// which of the waiting keys is next is left to chance, because nothing may depend on it.
import type { Key } from '@slipway/kube';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

export type Outcome =
  | { readonly type: 'done' }
  | { readonly type: 'again'; readonly afterMs: number }
  | { readonly type: 'retry'; readonly atMostMs?: number };

export interface VirtualQueueOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly workers: number;
  /** Must not reject. */
  handle(this: void, key: Key): Promise<Outcome>;
}

export interface VirtualQueue {
  add(key: Key, afterMs?: number): void;
}

const FIRST_BACKOFF_MS = 5;
const LONGEST_BACKOFF_MS = 300_000;

export function createVirtualQueue({ time, random, workers, handle }: VirtualQueueOptions): VirtualQueue {
  const ready = new Set<Key>();
  const delayed = new Map<Key, { readonly at: number; cancel(this: void): void }>();
  /** True: what it runs on has changed meanwhile. */
  const running = new Map<Key, boolean>();
  const failures = new Map<Key, number>();

  function add(key: Key, afterMs = 0): void {
    if (afterMs > 0) delay(key, time.now() + afterMs);
    else if (running.has(key)) running.set(key, true);
    else makeReady(key);
  }

  function delay(key: Key, at: number): void {
    const earlier = delayed.get(key);
    if (earlier !== undefined && earlier.at <= at) return;
    earlier?.cancel();
    const cancel = time.after(at - time.now(), () => {
      delayed.delete(key);
      add(key);
    });
    delayed.set(key, { at, cancel });
  }

  function makeReady(key: Key): void {
    delayed.get(key)?.cancel();
    delayed.delete(key);
    ready.add(key);
    time.after(random.int(0, 5), take);
  }

  function take(): void {
    if (ready.size === 0 || running.size >= workers) return;
    const key = random.pick([...ready]);
    ready.delete(key);
    running.set(key, false);
    void handle(key).then((outcome) => settle(key, outcome));
  }

  function settle(key: Key, outcome: Outcome): void {
    const isStale = running.get(key) === true;
    running.delete(key);
    if (outcome.type === 'retry') {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      const { atMostMs = LONGEST_BACKOFF_MS } = outcome;
      add(key, Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(count, 20), atMostMs, LONGEST_BACKOFF_MS));
    } else {
      failures.delete(key);
      if (outcome.type === 'again') add(key, Math.max(1, outcome.afterMs));
    }
    if (isStale) add(key);
    take();
  }

  return { add };
}
