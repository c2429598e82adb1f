// When a watch that has ended is opened again.
import { backoffMs, halfJitter } from '@slipway/base/backoff';

export type WatchEnd =
  /** The time that the watch was opened for is over. Each watch draws its own, so a fleet's are spread already. */
  | { readonly type: 'expired' }
  /** The server closed it before that, for example because it shuts down. */
  | { readonly type: 'early'; readonly openMs: number }
  | { readonly type: 'failed'; readonly retryAfterMs: number };

export interface Reconnect {
  /** Consecutive failures, with this one. */
  readonly failures: number;
  readonly delayMs: number;
}

/** A server or proxy that hangs up immediately must not be retried in a tight loop. */
const MIN_OPEN_MS = 1000;

/**
 * `spreadMs`: what this process adds if it did not choose the moment itself. The watches of a whole fleet end together
 * when an API server restarts, and must not come back together.
 */
export function decideReconnect(
  end: WatchEnd,
  failures: number,
  { maxBackoffMs, spreadMs }: { readonly maxBackoffMs: number; readonly spreadMs: number },
  random?: () => number,
): Reconnect {
  if (end.type === 'expired') return { failures: 0, delayMs: 0 };
  if (end.type === 'early' && end.openMs >= MIN_OPEN_MS) return { failures: 0, delayMs: spreadMs };
  const backoff = backoffMs({ firstMs: 100, maxMs: maxBackoffMs, jitter: halfJitter }, failures + 1, random);
  const asked = end.type === 'failed' ? end.retryAfterMs : 0;
  return { failures: failures + 1, delayMs: Math.max(backoff, asked + spreadMs) };
}

/**
 * Draws a delay of up to `maxMs` once for all watches that end together: they share a connection, and the first to
 * return would open it for the others.
 */
export function createReconnectSpread(
  maxMs: number,
  { now = () => performance.now(), random = Math.random }: { now?: () => number; random?: () => number } = {},
): () => number {
  let until = -Infinity;
  return () => {
    const at = now();
    if (until <= at) until = at + random() * maxMs;
    return until - at;
  };
}
