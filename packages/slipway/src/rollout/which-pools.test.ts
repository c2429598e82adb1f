import { describe, expect, it } from 'vitest';
import { whichPools } from './which-pools.ts';

describe('the pools that pause and resume are for', () => {
  it('are the one that was named, or all of them', () => {
    expect(whichPools('pause', 'worker', {})).toBe('worker');
    expect(whichPools('pause', undefined, { all: true })).toBeNull();
  });

  it.each<[string | undefined, boolean, RegExp]>([
    [undefined, false, /slipway pause: expected a POOL or --all .* found neither/],
    ['worker', true, /found both worker and --all/],
  ])('must be said, and only once: %s, --all %s', (pool, all, message) => {
    expect(() => whichPools('pause', pool, { all })).toThrow(message);
  });
});
