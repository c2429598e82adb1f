import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addAttempt, addOutage, type Attempts, isFailed, isLongOutage, type Outage } from './retry.ts';

const problem = { code: 'SLW_PINNING_PULL', message: 'no' };

/** Retries as soon as possible, and takes no time. */
function fail(times: number, random = 0.5): Attempts[] {
  const all: Attempts[] = [];
  let now = 0;
  for (let time = 0; time < times; time += 1) {
    const next = addAttempt(all.at(-1) ?? null, problem, now, random);
    all.push(next);
    now = next.notBefore;
  }
  return all;
}

describe('an image that cannot be pulled', () => {
  it('is retried after 1, 2, 4 and 8 seconds, then counts as failed: every one to five minutes', () => {
    const waits = fail(9).map(({ notBefore, lastAt }) => (notBefore - lastAt) / 1000);
    expect(waits).toEqual([1, 2, 4, 8, 60, 120, 240, 300, 300]);
    expect(fail(5).map(isFailed)).toEqual([false, false, false, false, true]);
  });

  it('does not count as failed within ten seconds, or before three attempts', () => {
    const tried = (tries: number, lastAt: number): boolean =>
      isFailed({ tries, firstAt: 0, lastAt, notBefore: 0, problem });
    expect([tried(2, 60_000), tried(3, 9999), tried(3, 10_000), tried(30, 9999)]).toEqual([false, false, true, false]);
  });

  it('is never retried immediately, whatever the jitter', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.double({ min: 0, max: 1, noNaN: true }), (times, random) => {
        for (const { notBefore, lastAt } of fail(times, random)) {
          expect(notBefore - lastAt).toBeGreaterThanOrEqual(750);
          expect(notBefore - lastAt).toBeLessThanOrEqual(375_000);
        }
      }),
    );
  });
});

const outageProblem = { code: 'SLW_PINNING_RUNTIME', message: 'nobody listens' };

describe('a container runtime that does not respond', () => {
  it('is queried again after half a second, then at least every ten seconds', () => {
    const waits: number[] = [];
    let [outage, now]: [Outage | null, number] = [null, 1000];
    for (let time = 0; time < 8; time += 1) {
      outage = addOutage(outage, outageProblem, now, 0.5);
      waits.push((outage.notBefore - now) / 1000);
      now = outage.notBefore;
    }
    expect(waits).toEqual([0.5, 1, 2, 4, 8, 10, 10, 10]);
    expect(outage?.since).toBe(1000);
  });

  it('is one outage, however many pulls fail in it', () => {
    const first = addOutage(null, outageProblem, 1000, 0.5);
    expect(addOutage(first, outageProblem, 1100, 0.5)).toEqual(first);
  });

  it('is a problem after two minutes', () => {
    const outage = addOutage(null, outageProblem, 1000, 0.5);
    expect([isLongOutage(outage, 120_999), isLongOutage(outage, 121_000)]).toEqual([false, true]);
  });
});
