import type { RegistryClock } from '../requester.ts';

/** Time that advances only when slept, and then immediately. */
export interface TestClock extends RegistryClock {
  readonly slept: number[];
  advance(ms: number): void;
}

export function createTestClock(start = Date.UTC(2026, 0, 1)): TestClock {
  let now = start;
  const slept: number[] = [];
  return {
    slept,
    wallNow: () => now,
    advance(ms) {
      now += ms;
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}
