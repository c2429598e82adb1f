import { describe, expect, it } from 'vitest';
import { waitBefore } from './requester.ts';

describe('the wait before another try', () => {
  it('grows to a bound, and is spread', () => {
    expect([0, 1, 2, 3, 10].map((round) => waitBefore(round, 0, () => 1))).toEqual([500, 1000, 2000, 4000, 15_000]);
    expect(waitBefore(1, 0, () => 0)).toBe(500);
  });

  it('is never shorter than the registry wants', () => {
    expect(waitBefore(0, 7000)).toBe(7000);
  });
});
