import { describe, expect, it } from 'vitest';
import { durationText } from './duration.ts';

describe('a duration in words', () => {
  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [60, '1 min'],
    [89, '1 min'],
    [3570, '1 h'],
    [7500, '2 h 5 min'],
    [86_399, '1 d'],
    [93_600, '1 d 2 h'],
    [-5, '0 s'],
  ])('%i seconds: %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});
