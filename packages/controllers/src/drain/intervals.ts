// How soon a drain is looked at again. All times are in milliseconds.

const SECOND = 1000;

const MINUTE = 60 * SECOND;

export const HOUR = 60 * MINUTE;

/** While pods end: most do in seconds, some have a long grace period. `elapsed` since they were last told to. */
export const computeCheckDelay = (elapsed: number): number => Math.min(Math.max(elapsed / 10, SECOND), 10 * SECOND);

/** While a budget keeps pods and does not change. `elapsed` since the drain began. */
export const computeRetryDelay = (elapsed: number): number => (elapsed < 10 * MINUTE ? MINUTE : 5 * MINUTE);

/** A pod that is still there so long after its time to end was over will not go by itself. */
export const STUCK_AFTER_MS = 5 * MINUTE;

/** Once for every full hour that a drain takes. `lookedAt` null: nobody has looked yet, or it is not known. */
export function isTimeToWarn(since: number, lookedAt: number | null, now: number): boolean {
  const hours = (at: number): number => Math.floor((at - since) / HOUR);
  return hours(now) >= 1 && (lookedAt === null || hours(now) > hours(lookedAt));
}
