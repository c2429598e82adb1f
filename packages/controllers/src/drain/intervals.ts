// How soon a drain is checked again. All times are in milliseconds.

const SECOND = 1000;

const MINUTE = 60 * SECOND;

export const HOUR = 60 * MINUTE;

/** While pods terminate: mostly seconds, sometimes a long grace period. `elapsed` since the last eviction. */
export const computeCheckDelay = (elapsed: number): number => Math.min(Math.max(elapsed / 10, SECOND), 10 * SECOND);

/** While a budget blocks pods and does not change. `elapsed` since the drain started. */
export const computeRetryDelay = (elapsed: number): number => (elapsed < 10 * MINUTE ? MINUTE : 5 * MINUTE);

/** A pod that is still there this long after its grace period does not terminate without help. */
export const STUCK_AFTER_MS = 5 * MINUTE;

/** Once for every full hour of a drain. `lookedAt` null: not checked yet, or unknown. */
export function isTimeToWarn(since: number, lookedAt: number | null, now: number): boolean {
  const hours = (at: number): number => Math.floor((at - since) / HOUR);
  return hours(now) >= 1 && (lookedAt === null || hours(now) > hours(lookedAt));
}
