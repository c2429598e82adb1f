import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Backoff, backoffMs, halfJitter, jitterMs, quarterJitter } from './backoff.ts';

describe('the delay after consecutive failures', () => {
  it.each<[string, Backoff, number[], number[]]>([
    [
      'doubles up to its maximum',
      { firstMs: 500, maxMs: 15_000 },
      [1, 2, 3, 6, 1000],
      [500, 1000, 2000, 15_000, 15_000],
    ],
    ['grows by another factor', { firstMs: 1, maxMs: 50, factor: 3 }, [1, 2, 3, 4, 5], [1, 3, 9, 27, 50]],
    ['stays the same', { firstMs: 7, maxMs: 50, factor: 1 }, [1, 2, 99], [7, 7, 7]],
    ['may have no maximum', { firstMs: 250, maxMs: Infinity }, [1, 5], [250, 4000]],
    ['starts at the first failure', { firstMs: 5, maxMs: 10 }, [0, -3], [5, 5]],
    ['may be zero', { firstMs: 0, maxMs: 10 }, [1, 5000], [0, 0]],
  ])('%s', (_, backoff, failures, expected) => {
    expect(failures.map((each) => backoffMs(backoff, each))).toEqual(expected);
  });

  it.each<[string, Backoff['jitter'], number, number]>([
    ['up to half is subtracted', halfJitter, 500, 1000],
    ['a quarter more or less', quarterJitter, 750, 1250],
    ['from the whole down to half', [1, 0.5], 1000, 500],
  ])('jitter: %s', (_, jitter, least, most) => {
    const backoff: Backoff = { firstMs: 1000, maxMs: 1000, ...(jitter !== undefined && { jitter }) };
    expect([backoffMs(backoff, 1, () => 0), backoffMs(backoff, 1, () => 1)]).toEqual([least, most]);
  });

  it('without jitter, does not consume random numbers', () => {
    let asked = 0;
    backoffMs({ firstMs: 1, maxMs: 1 }, 1, () => (asked += 1));
    expect(asked).toBe(0);
  });

  it('law: it is a number within its bounds, and without jitter never shrinks', () => {
    fc.assert(
      fc.property(
        fc.nat(10_000),
        fc.nat(1_000_000),
        fc.nat(5000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (firstMs, maxMs, failures, chance) => {
          const plain = { firstMs, maxMs };
          expect(backoffMs(plain, failures + 1)).toBeGreaterThanOrEqual(backoffMs(plain, failures));
          const wait = backoffMs({ ...plain, jitter: halfJitter }, failures, () => chance);
          expect(wait).toBeGreaterThanOrEqual(Math.min(firstMs, maxMs) / 2);
          expect(wait).toBeLessThanOrEqual(maxMs);
        },
      ),
    );
  });

  it('a constant delay can have jitter too', () => {
    expect([jitterMs(100, [0.8, 1.2], () => 0), jitterMs(100, [0.8, 1.2], () => 0.5)]).toEqual([80, 100]);
  });
});
