import { describe, expect, it } from 'vitest';
import { waitBefore } from './requester.ts';

describe('the delay before a retry', () => {
  it('grows up to a maximum, with jitter', () => {
    expect([0, 1, 2, 3, 10].map((round) => waitBefore(round, 0, () => 1))).toEqual([500, 1000, 2000, 4000, 15_000]);
    expect(waitBefore(1, 0, () => 0)).toBe(500);
  });

  it('is never shorter than Retry-After', () => {
    expect(waitBefore(0, 7000)).toBe(7000);
  });
});
