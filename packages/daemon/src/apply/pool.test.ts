import { describe, expect, it } from 'vitest';
import { forEachAtOnce } from './pool.ts';

describe('several at a time', () => {
  it('never more than the limit, and all of them', async () => {
    const done: number[] = [];
    let [under, most] = [0, 0];
    await forEachAtOnce([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      under += 1;
      most = Math.max(most, under);
      await Promise.resolve();
      under -= 1;
      done.push(item);
    });
    expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it('after a failure none is begun, and those under way are waited for', async () => {
    const begun: number[] = [];
    const slow = Promise.withResolvers<void>();
    let isEnded = false;
    const all = forEachAtOnce([1, 2, 3, 4], 2, async (item) => {
      begun.push(item);
      if (item === 1) throw new Error('the first');
      await slow.promise;
      isEnded = true;
    });
    slow.resolve();
    await expect(all).rejects.toThrow('the first');
    expect(begun).toEqual([1, 2]);
    expect(isEnded).toBe(true);
  });
});
