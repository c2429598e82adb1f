import { backoffMs, halfJitter } from '@slipway/base/backoff';

/** The longest that we wait because somebody says so; who wants more is not asked again this time. */
export const longestWaitMs = 60_000;

const backoff = { firstMs: 500, maxMs: 15_000, jitter: halfJitter };

/** How long to wait before the next round: growing, spread so that many who failed together do not come back together. */
export const waitBefore = (round: number, retryAfterMs: number, random?: () => number): number =>
  Math.max(backoffMs(backoff, round + 1, random), retryAfterMs);
