import { describe, expect, it } from 'vitest';
import { canWatch } from './simulated-fleet.ts';

describe('the disks of simulated machines', () => {
  it.each([
    [8, 8192, true],
    [1000, 8192, false],
    [1000, 192_493, true],
    [20, undefined, true],
    [1000, undefined, false],
  ])('of %i machines with %s watches are watched: %s', (machines, limit, expected) => {
    expect(canWatch(machines, limit)).toBe(expected);
  });
});
