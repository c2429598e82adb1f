// Several at a time: what waits for a disk or a server can wait together.

export interface LimitOptions {
  /** Once aborted, no further item is started. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Works on at most `limit` items at the same time, in their order. After the first failure no further item is started;
 * those in hand are waited for, so that nothing goes on behind the caller's back, and then the first error is thrown.
 * An abort is such a failure, with the signal's reason.
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

/** The results in the order of the items. What holds for forEachLimit holds here. */
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
