/** The longest that we wait because somebody says so; who wants more is not asked again this time. */
export const longestWaitMs = 60_000;

const firstWaitMs = 500;
const longestBackoffMs = 15_000;

/** How long to wait before the next round: growing, spread so that many who failed together do not come back together. */
export function waitBefore(round: number, retryAfterMs: number, random: () => number = Math.random): number {
  const backoff = Math.min(firstWaitMs * 2 ** round, longestBackoffMs) * (0.5 + random() / 2);
  return Math.max(backoff, retryAfterMs);
}

/** A Retry-After header, seconds or a date, as milliseconds from now. */
export function parseRetryAfter(header: string | readonly string[] | undefined, now: number): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (text === undefined || text === '' || text.length > 100) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
