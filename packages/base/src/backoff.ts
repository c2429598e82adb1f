// The delay after consecutive failures.

/** The delay is multiplied by a random factor between these two. */
export type Jitter = readonly [from: number, to: number];

/** Shortens the delay by up to half, so that callers that failed together do not retry together. */
export const halfJitter: Jitter = [0.5, 1];
/** A quarter more or less. */
export const quarterJitter: Jitter = [0.75, 1.25];

export interface Backoff {
  /** After the first failure. */
  readonly firstMs: number;
  /** Before jitter. */
  readonly maxMs: number;
  /** Default: 2. */
  readonly factor?: number;
  /** Default: none. */
  readonly jitter?: Jitter;
}

/** Keeps the power finite. Every maximum is reached long before. */
const MAX_STEPS = 100;

/** Milliseconds to wait after this many consecutive failures, counted from 1. `random` returns numbers from 0 to 1. */
export function backoffMs(backoff: Backoff, failures: number, random: () => number = Math.random): number {
  const { firstMs, maxMs, factor = 2, jitter } = backoff;
  const steps = Math.min(Math.max(0, failures - 1), MAX_STEPS);
  const ms = Math.min(firstMs * factor ** steps, maxMs);
  return jitter === undefined ? ms : jitterMs(ms, jitter, random);
}

/** For delays that do not grow. */
export const jitterMs = (ms: number, [from, to]: Jitter, random: () => number = Math.random): number =>
  ms * (from + random() * (to - from));
