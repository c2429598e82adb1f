import { describe, expect, it } from 'vitest';
import { countMostPerSecond } from './restart.ts';

describe('the most handshakes in a second', () => {
  it.each<[string, number[], number]>([
    ['of none', [], 0],
    ['of one', [5000], 1],
    ['that are a second apart', [0, 1000, 2000], 1],
    ['across the border of two seconds', [900, 950, 1100, 1899, 5000], 4],
    ['in any order', [1100, 900, 5000, 950], 3],
  ])('%s', (_, times, expected) => expect(countMostPerSecond(times)).toBe(expected));
});
