const longestMs = 3_600_000;
const shortestMs = 50;

/**
 * How long to wait for something that is due at `due`. At most an hour: a clock may be set, a machine may sleep.
 * Never nothing at all: a clock that runs a little behind would have us turn in circles.
 */
export const untilDue = (due: number, now: Date): number =>
  Math.min(longestMs, Math.max(shortestMs, due - now.getTime()));
