// A hundred edits that come at once shall make one rendered config and not a hundred, of which ninety-nine would be stored,
// perhaps begun to be rolled out, and collected again.

/** Short enough that a single edit is not felt to wait, long enough for the next one of a burst to come. */
const quietMs = 250;
/** However long a burst lasts. */
const atMostMs = 3000;

interface Seen {
  inputs: readonly unknown[];
  changedAt: number;
  /** When the burst began that is not over; undefined when all is quiet. */
  since: number | undefined;
}

export interface Settling {
  /** How long to wait before these inputs are worth a render; 0 when they have been the same for a while. */
  waitFor(key: string, inputs: readonly unknown[], now: number): number;
  forget(key: string): void;
}

/** Only a delay, so that it may be forgotten in a restart. */
export function createSettling(): Settling {
  const seen = new Map<string, Seen>();
  return {
    waitFor(key, inputs, now) {
      const last = seen.get(key);
      const isSame = last !== undefined && areSame(last.inputs, inputs);
      if (isSame && last.since === undefined) return 0;
      const changedAt = isSame ? last.changedAt : now;
      const since = last?.since ?? now;
      const wait = Math.max(0, Math.min(changedAt + quietMs, since + atMostMs) - now);
      seen.set(key, { inputs, changedAt, since: wait === 0 ? undefined : since });
      return wait;
    },
    forget: (key) => void seen.delete(key),
  };
}

const areSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index]);
