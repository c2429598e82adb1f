/**
 * Several at a time: what waits for the disk can wait together. After a failure no further one is begun, and those that were
 * are waited for, so that nothing goes on behind the caller's back.
 */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  limit: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  async function work(): Promise<void> {
    for (let next = iterator.next(); next.done !== true && failures.length === 0; next = iterator.next()) {
      try {
        await act(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: limit }, work));
  if (failures.length > 0) throw failures[0];
}
