import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';

const minutes = (failures: number, chance: number) => backoffMs({ failures, chance, minuteMs: 60_000 }) / 60_000;

describe('the delay after failures in a row', () => {
  it.each([
    [1, 0, 2],
    [2, 0, 4],
    [9, 0, 512],
    [10, 0, 512],
    [1000, 0, 512],
    [1, 0.5, 1.5],
    [1, 1, 1],
  ])('after %i, with the chance %d, is %d minutes', (failures, chance, expected) => {
    expect(minutes(failures, chance)).toBe(expected);
  });

  it('is never more than the doubled minutes, and never less than half of them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 50 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
        const whole = 2 ** Math.min(failures, 9);
        expect(minutes(failures, chance)).toBeLessThanOrEqual(whole);
        expect(minutes(failures, chance)).toBeGreaterThanOrEqual(whole / 2 - 0.001);
      }),
    );
  });

  it('stops growing sooner where somebody stands before the machine and waits', () => {
    expect(backoffMs({ failures: 9, chance: 0, minuteMs: 60_000, mostDoublings: 4 })).toBe(16 * 60_000);
  });
});
