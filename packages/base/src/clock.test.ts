import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createClock, systemClock } from './clock.ts';

function manualClock() {
  let timers: { at: number; fire: () => void }[] = [];
  let now = 0;
  const clock = createClock({
    now: () => now,
    wallNow: () => 1_000_000 + now,
    setTimer(ms, fire) {
      const timer = { at: now + ms, fire };
      timers.push(timer);
      return () => (timers = timers.filter((each) => each !== timer));
    },
  });
  const advance = (ms: number): void => {
    now += ms;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { fire } of due) fire();
  };
  return { clock, advance, timers: () => timers.length };
}

describe('a test clock', () => {
  it('sleeps with its own timers', async () => {
    const { clock, advance } = manualClock();
    let isAwake = false;
    const sleep = clock.sleep(100).then(() => (isAwake = true));
    advance(99);
    await Promise.resolve();
    expect(isAwake).toBe(false);
    advance(1);
    await sleep;
    expect([clock.now(), clock.wallNow()]).toEqual([100, 1_000_100]);
  });

  it('an abort ends the sleep with its reason, and leaves no timer', async () => {
    const { clock, timers } = manualClock();
    const stop = new AbortController();
    const sleep = clock.sleep(100, stop.signal);
    stop.abort(new Error('stop'));
    await expect(sleep).rejects.toThrow('stop');
    expect(timers()).toBe(0);
    await expect(clock.sleep(100, stop.signal)).rejects.toThrow('stop');
    expect(timers()).toBe(0);
  });

  it('a sleep that has ended no longer listens for an abort', async () => {
    const { clock, advance } = manualClock();
    const stop = new AbortController();
    const sleep = clock.sleep(1, stop.signal);
    advance(1);
    await sleep;
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});

describe('the system clock', () => {
  it('sleeps, and both of its times advance', async () => {
    const [now, wall] = [systemClock.now(), systemClock.wallNow()];
    await systemClock.sleep(1);
    expect(systemClock.now()).toBeGreaterThan(now);
    expect(systemClock.wallNow()).toBeGreaterThanOrEqual(wall);
  });

  it('does not fire a timer of a month immediately', async () => {
    let hasFired = false;
    const cancel = systemClock.setTimer(30 * 24 * 3_600_000, () => (hasFired = true));
    await systemClock.sleep(5);
    cancel();
    expect(hasFired).toBe(false);
  });
});
