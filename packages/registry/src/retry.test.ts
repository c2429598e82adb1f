import { describe, expect, it } from 'vitest';
import { parseRetryAfter, waitBefore } from './retry.ts';

describe('the wait before another try', () => {
  it('grows to a bound, and is spread', () => {
    expect([0, 1, 2, 3, 10].map((round) => waitBefore(round, 0, () => 1))).toEqual([500, 1000, 2000, 4000, 15_000]);
    expect(waitBefore(1, 0, () => 0)).toBe(500);
  });

  it('is never shorter than the registry wants', () => {
    expect(waitBefore(0, 7000)).toBe(7000);
  });

  const now = Date.UTC(2026, 0, 1);
  it.each([
    ['7', 7000],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('Retry-After: %s', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});
