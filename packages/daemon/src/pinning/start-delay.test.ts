import { describe, expect, it } from 'vitest';
import { startDelayMs } from './start-delay.ts';

describe('when a machine begins', () => {
  it('is the same moment each time, and spread over all of the time for many machines', () => {
    const delays = Array.from({ length: 200 }, (_, index) => startDelayMs(`worker-${index}`, 10_000));
    expect(delays).toEqual(Array.from({ length: 200 }, (_, index) => startDelayMs(`worker-${index}`, 10_000)));
    const seconds = new Set(delays.map((delay) => Math.floor(delay / 1000)));
    expect(seconds.size).toBe(10);
    expect(Math.max(...delays)).toBeLessThan(10_000);
  });

  it('is at once where nothing is spread', () => {
    expect(startDelayMs('worker-1', 0)).toBe(0);
  });
});
