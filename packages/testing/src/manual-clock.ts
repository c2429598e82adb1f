// Time that moves only when a test says so: what it decides does not depend on how fast the machine is.
import { type Clock, createClock } from '@slipway/base/clock';

export interface ManualClock extends Clock {
  /** Timers fire in the order of their times, each when all that the one before it set off has come to a wait. */
  advance(this: void, ms: number): Promise<void>;
  /** Milliseconds until each timer that is set. */
  waits(this: void): number[];
}

export function createManualClock(): ManualClock {
  let time = 0;
  const timers = new Set<{ at: number; fire: () => void }>();
  const clock = createClock({
    now: () => time,
    wallNow: () => WALL_START + time,
    setTimer(ms, fire) {
      const timer = { at: time + ms, fire };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  return {
    ...clock,
    async advance(ms) {
      const end = time + ms;
      for (;;) {
        await settled();
        const [due] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (due === undefined) break;
        timers.delete(due);
        time = Math.max(time, due.at);
        due.fire();
      }
      time = end;
      await settled();
    },
    waits: () => [...timers].map(({ at }) => at - time),
  };
}

const WALL_START = Date.UTC(2026, 0);

/** Lets everything that waits for a resolved promise go on. */
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
