import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inTurns } from './in-turns.ts';

describe('work in turns', () => {
  it('is done for every item, never for more at once than said', async () => {
    const done: number[] = [];
    let now = 0;
    let most = 0;
    await inTurns([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      now += 1;
      most = Math.max(most, now);
      await turn();
      now -= 1;
      done.push(item);
    });
    expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it('ends with the first failure, and when it rejects nothing is under way', async () => {
    const begun: number[] = [];
    let now = 0;
    const work = inTurns([1, 2, 3, 4, 5, 6], 2, async (item) => {
      begun.push(item);
      now += 1;
      await turn();
      now -= 1;
      if (item === 2) throw new Error('two');
      await turn();
    });
    await expect(work).rejects.toThrow('two');
    expect(now).toBe(0);
    expect(begun).not.toContain(6);
  });
});
