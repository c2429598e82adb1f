// Bounded concurrency for work that waits for a disk or a server.

export interface LimitOptions {
  /** Once aborted, no further item is started. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Processes at most `limit` items concurrently, in their order. After the first failure no further item is started. The
 * running ones are awaited, so that no work continues after the call, and then the first error is thrown. An abort
 * counts as a failure with the signal's reason.
 */
export async function forEachLimit<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T, index: number) => Promise<void>,
  { signal }: LimitOptions = {},
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  let started = 0;
  async function runWorker(): Promise<void> {
    while (failures.length === 0) {
      try {
        const next = iterator.next();
        if (next.done === true) return;
        signal?.throwIfAborted();
        started += 1;
        await work(next.value, started - 1);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  const workers = Array.isArray(items) ? Math.min(limit, items.length) : limit;
  await Promise.all(Array.from({ length: Math.max(1, workers) }, runWorker));
  if (failures.length > 0) throw failures[0];
}

/** Like forEachLimit, but returns the results in the order of the items. */
export async function mapLimit<T, R>(
  items: Iterable<T>,
  limit: number,
  work: (item: T, index: number) => Promise<R>,
  options: LimitOptions = {},
): Promise<R[]> {
  const results: R[] = [];
  const compute = async (item: T, index: number): Promise<void> => {
    results[index] = await work(item, index);
  };
  await forEachLimit(items, limit, compute, options);
  return results;
}

export type KeyedQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Runs the work of one key in order, one at a time. Only for work of this process: in controllers, one has the lease. */
export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}
