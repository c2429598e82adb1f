import { describe, expect, it } from 'vitest';
import { createRunThrottle } from './queue.ts';

function createThrottleWith({ settleMs = 0, minIntervalMs = 0 }) {
  let now = 0;
  const clock = { now: () => now, setTimer: () => () => {} };
  const throttle = createRunThrottle({ settleMs: () => settleMs, minIntervalMs: () => minIntervalMs, clock });
  return {
    changed: (at: number, key = 'a'): void => {
      now = at;
      throttle.changed(key);
    },
    start: (at: number, key = 'a'): number => {
      now = at;
      return throttle.start(key);
    },
  };
}

describe('a key that settles', () => {
  it('waits until it has been quiet for a while', () => {
    const { changed, start } = createThrottleWith({ settleMs: 250 });
    changed(0);
    expect(start(0)).toBe(250);
    changed(100);
    expect(start(250)).toBe(100);
    expect(start(350)).toBe(0);
  });

  it('waits for the end of a burst, but not forever', () => {
    const { changed, start } = createThrottleWith({ settleMs: 250 });
    const waits: number[] = [];
    for (let at = 0; at <= 3000; at += 100) {
      changed(at);
      waits.push(start(at));
    }
    expect(waits.slice(0, 3)).toEqual([250, 250, 250]);
    expect(waits.slice(-3)).toEqual([200, 100, 0]);
  });

  it('runs immediately if nothing has changed, and settles again after a run', () => {
    const { changed, start } = createThrottleWith({ settleMs: 250 });
    expect(start(0)).toBe(0);
    changed(1000);
    expect(start(1250)).toBe(0);
    changed(10_000);
    expect(start(10_000)).toBe(250);
  });

  it('does not wait for the changes of another', () => {
    const { changed, start } = createThrottleWith({ settleMs: 250 });
    changed(0, 'a');
    expect(start(0, 'b')).toBe(0);
  });
});

describe('a key with an interval', () => {
  it('starts no earlier than that after its last start', () => {
    const { start } = createThrottleWith({ minIntervalMs: 500 });
    expect(start(0)).toBe(0);
    expect(start(100)).toBe(400);
    expect(start(499)).toBe(1);
    expect(start(500)).toBe(0);
    expect(start(600)).toBe(400);
  });

  it('does not wait for the runs of another', () => {
    const { start } = createThrottleWith({ minIntervalMs: 500 });
    expect(start(0, 'a')).toBe(0);
    expect(start(1, 'b')).toBe(0);
    expect([start(400, 'a'), start(400, 'b')]).toEqual([100, 101]);
  });

  it('waits for both if it also settles', () => {
    const { changed, start } = createThrottleWith({ settleMs: 250, minIntervalMs: 500 });
    expect(start(0)).toBe(0);
    changed(100);
    expect(start(100)).toBe(400);
    changed(450);
    expect(start(500)).toBe(200);
    expect(start(700)).toBe(0);
  });
});
