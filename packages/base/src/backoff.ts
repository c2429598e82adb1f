// How long to wait after failures in a row.

/** The share of the wait, from 0 upwards: somewhere between these two, by chance. */
export type Jitter = readonly [from: number, to: number];

/** Up to half is taken off, so that callers that failed together do not come back together. */
export const halfJitter: Jitter = [0.5, 1];
/** A quarter more or less. */
export const quarterJitter: Jitter = [0.75, 1.25];

export interface Backoff {
  /** After the first failure. */
  readonly firstMs: number;
  /** Before jitter. */
  readonly maxMs: number;
  /** Twice as long each time, if not given. */
  readonly factor?: number;
  /** None, if not given. */
  readonly jitter?: Jitter;
}

/** More would leave the range of numbers, and every maximum is reached long before. */
const MAX_STEPS = 100;

/** Milliseconds to wait after that many failures in a row, counted from 1. `random` gives numbers from 0 up to 1. */
export function backoffMs(backoff: Backoff, failures: number, random: () => number = Math.random): number {
  const { firstMs, maxMs, factor = 2, jitter } = backoff;
  const steps = Math.min(Math.max(0, failures - 1), MAX_STEPS);
  const ms = Math.min(firstMs * factor ** steps, maxMs);
  return jitter === undefined ? ms : jitterMs(ms, jitter, random);
}

/** For waits that do not grow. */
export const jitterMs = (ms: number, [from, to]: Jitter, random: () => number = Math.random): number =>
  ms * (from + random() * (to - from));
