import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReconnectSpread, decideReconnect, type WatchEnd } from './reconnect.ts';

const half = (): number => 0.5;

describe('a watch that has ended is opened again', () => {
  it.each<[string, WatchEnd, number, number, number, number]>([
    // how it ended, failures before, spread, failures after, delay
    ['at once when its time is over', { type: 'expired' }, 0, 7000, 0, 0],
    ['at once when its time is over, also after failures', { type: 'expired' }, 5, 7000, 0, 0],
    ['at once after an early end, without a spread', { type: 'early', openMs: 60_000 }, 0, 0, 0, 0],
    ['after the spread when the server ended it early', { type: 'early', openMs: 60_000 }, 0, 7000, 0, 7000],
    ['after a moment when the server hangs up immediately', { type: 'early', openMs: 10 }, 0, 0, 1, 75],
    ['after the spread when the server hangs up immediately', { type: 'early', openMs: 10 }, 0, 7000, 1, 7000],
    ['after a moment when the connection broke', { type: 'failed', retryAfterMs: 0 }, 0, 0, 1, 75],
    ['after twice as long each time', { type: 'failed', retryAfterMs: 0 }, 3, 0, 4, 600],
    ['after the longest backoff in the end', { type: 'failed', retryAfterMs: 0 }, 30, 0, 31, 22_500],
    ['after the spread when the connection broke', { type: 'failed', retryAfterMs: 0 }, 0, 7000, 1, 7000],
    ['after the backoff if it is longer than the spread', { type: 'failed', retryAfterMs: 0 }, 30, 7000, 31, 22_500],
    ['no sooner than the server asked', { type: 'failed', retryAfterMs: 5000 }, 0, 0, 1, 5000],
    ['spread after the time that the server asked for', { type: 'failed', retryAfterMs: 5000 }, 0, 7000, 1, 12_000],
  ])('%s', (_, end, before, spreadMs, failures, delayMs) => {
    expect(decideReconnect(end, before, { maxBackoffMs: 30_000, spreadMs }, half)).toEqual({ failures, delayMs });
  });

  it('never sooner than the server asked, and never later than backoff, request and spread together', () => {
    fc.assert(
      fc.property(fc.nat(600_000), fc.nat(50), fc.nat(10_000), (retryAfterMs, before, spreadMs) => {
        const limits = { maxBackoffMs: 30_000, spreadMs };
        const { delayMs } = decideReconnect({ type: 'failed', retryAfterMs }, before, limits);
        expect(delayMs).toBeGreaterThanOrEqual(retryAfterMs);
        expect(delayMs).toBeLessThanOrEqual(Math.max(30_000, retryAfterMs + spreadMs));
      }),
    );
  });
});

describe('the spread', () => {
  it('is one draw for all watches that end together, and another for the next time', () => {
    let now = 100;
    const draws = [0.5, 0.1];
    const spread = createReconnectSpread(10_000, { now: () => now, random: () => draws.shift() ?? 0 });
    expect(spread()).toBe(5000);
    now += 2000;
    expect(spread()).toBe(3000);
    now += 60_000;
    expect(spread()).toBe(1000);
  });

  it('is uniform from 0 to its maximum', () => {
    const tenths = new Set<number>();
    for (let i = 0; i < 1000; i += 1) {
      const delay = createReconnectSpread(10_000)();
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThan(10_000);
      tenths.add(Math.floor(delay / 1000));
    }
    expect(tenths.size).toBe(10);
  });
});
