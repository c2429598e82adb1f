// A clock that only a test advances, so that results do not depend on the speed of the machine.
import { type Clock, createClock } from '@slipway/base/clock';

export interface ManualClock extends Clock {
  /** Timers fire in order of time, each after everything that the previous one triggered has come to a wait. */
  advance(this: void, ms: number): Promise<void>;
  /** Milliseconds until each pending timer. */
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

/** Lets everything that awaits a resolved promise continue. */
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
