import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyedQueue, forEachLimit, mapLimit } from './concurrency.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('bounded concurrency', () => {
  it('law: every item runs once, in order, and never more than the limit concurrently', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 20 }), fc.integer({ min: 1, max: 6 }), async (items, limit) => {
        const started: number[] = [];
        let running = 0;
        let most = 0;
        await forEachLimit(items, limit, async (ticks, index) => {
          started.push(index);
          running += 1;
          most = Math.max(most, running);
          for (let left = ticks; left > 0; left -= 1) await tick();
          running -= 1;
        });
        expect(started).toEqual(items.map((_, index) => index));
        expect(running).toBe(0);
        expect(most).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 50 },
    );
  });

  it('takes an item from an iterator only when a worker is free', async () => {
    let taken = 0;
    function* endless(): Generator<number> {
      for (;;) yield (taken += 1);
    }
    const end = new Error('enough');
    const work = async (item: number): Promise<void> => {
      await tick();
      if (item === 5) throw end;
    };
    await expect(forEachLimit(endless(), 2, work)).rejects.toBe(end);
    expect(taken).toBeLessThanOrEqual(6);
  });

  it('starts no further items after a failure, awaits the running ones, and throws the first error', async () => {
    const [first, second] = [new Error('first'), new Error('second')];
    const done: number[] = [];
    const work = async (item: number): Promise<void> => {
      if (item === 1) throw first;
      await tick();
      if (item === 2) throw second;
      await tick();
      done.push(item);
    };
    await expect(forEachLimit([0, 1, 2, 3, 4], 3, work)).rejects.toBe(first);
    expect(done).toEqual([0]);
  });

  it('a failure may be any value, even undefined', async () => {
    const work = (): Promise<void> => Promise.reject(undefined);
    await expect(forEachLimit([1], 1, work)).rejects.toBeUndefined();
  });

  it('starts no further items after an abort, awaits the running ones, and throws the reason', async () => {
    const stop = new AbortController();
    const reason = new Error('stop');
    const done: number[] = [];
    const work = async (item: number): Promise<void> => {
      if (item === 1) stop.abort(reason);
      await tick();
      done.push(item);
    };
    await expect(forEachLimit([0, 1, 2, 3], 2, work, { signal: stop.signal })).rejects.toBe(reason);
    expect(done).toEqual([0, 1]);
  });

  it('an abort after the last item has started is not a failure', async () => {
    const stop = new AbortController();
    await forEachLimit([0], 2, async () => stop.abort(), { signal: stop.signal });
    expect(stop.signal.aborted).toBe(true);
  });

  it('an empty list succeeds', async () => {
    await forEachLimit([], 5, () => Promise.reject(new Error('never')));
    expect(await mapLimit([], 5, async () => 1)).toEqual([]);
  });

  it('results are in the order of the items', async () => {
    const results = await mapLimit([3, 1, 2], 2, async (ticks, index) => {
      for (let left = ticks; left > 0; left -= 1) await tick();
      return `${index}:${ticks}`;
    });
    expect(results).toEqual(['0:3', '1:1', '2:2']);
  });
});

it('work on one key runs in order, on other keys concurrently, and a failure blocks nothing', async () => {
  const inTurn = createKeyedQueue();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const failing = inTurn('a', async () => {
    order.push('first starts');
    await first.promise;
    order.push('first fails');
    throw new Error('first');
  });
  const second = inTurn('a', () => Promise.resolve(order.push('second')));
  await inTurn('b', () => Promise.resolve(order.push('other')));
  first.resolve();
  await expect(failing).rejects.toThrow('first');
  await second;
  expect(order).toEqual(['first starts', 'other', 'first fails', 'second']);
});
