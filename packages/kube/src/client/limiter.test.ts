import { describe, expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';
import type { Limiter } from './limiter.ts';

/** Whether it is granted without anything else happening. */
async function granted(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(
    () => (done = true),
    () => {},
  );
  await new Promise((resolve) => setImmediate(resolve));
  return done;
}

const take = (limiter: Limiter, count: number): Promise<(() => void)[]> =>
  Promise.all(Array.from({ length: count }, () => limiter.acquire()));

describe('limiter', () => {
  it('allows as many concurrent requests as the limit, and one more for each that ends', async () => {
    const limiter = createLimiter(3);
    const [first] = await take(limiter, 3);
    const fourth = limiter.acquire();
    expect(await granted(fourth)).toBe(false);
    first?.();
    expect(await granted(fourth)).toBe(true);
  });

  it('serves waiting requests in order', async () => {
    const limiter = createLimiter(1);
    const [release] = await take(limiter, 1);
    const order: number[] = [];
    const all = [1, 2, 3, 4, 5].map(async (n) => {
      const done = await limiter.acquire();
      order.push(n);
      done();
    });
    release?.();
    await Promise.all(all);
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it('halves when the server is overloaded, down to one', () => {
    const limiter = createLimiter(10);
    const limits = Array.from({ length: 5 }, () => {
      limiter.overloaded(0);
      return limiter.limit;
    });
    expect(limits).toEqual([5, 2, 1, 1, 1]);
  });

  it('halves once per overload, however many requests of one burst fail', () => {
    const limiter = createLimiter(64);
    for (let answers = 0; answers < 64; answers += 1) limiter.overloaded(1000);
    expect(limiter.limit).toBe(32);
  });

  it('recovers one by one, after as many successes as the limit, and never above the maximum', () => {
    const limiter = createLimiter(4);
    limiter.overloaded(0);
    const limits = Array.from({ length: 12 }, () => {
      limiter.succeeded();
      return limiter.limit;
    });
    expect(limits).toEqual([2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]);
  });

  it('starts nothing while the server asks to wait, then continues automatically', async () => {
    const limiter = createLimiter(4);
    limiter.overloaded(60);
    const began = performance.now();
    const waiting = limiter.acquire();
    expect(await granted(waiting)).toBe(false);
    await waiting;
    expect(performance.now() - began).toBeGreaterThanOrEqual(58);
  });

  it('drops waiting requests that are aborted, with the reason of their signal', async () => {
    const limiter = createLimiter(1);
    const [release] = await take(limiter, 1);
    const abort = new AbortController();
    const first = limiter.acquire(abort.signal);
    const second = limiter.acquire();
    const reason = new Error('no longer wanted');
    abort.abort(reason);
    await expect(first).rejects.toBe(reason);
    release?.();
    expect(await granted(second)).toBe(true);
    expect(() => limiter.acquire(abort.signal)).toThrow(reason);
  });

  it('keeps its slot if the signal fires after the grant', async () => {
    const limiter = createLimiter(1);
    const abort = new AbortController();
    const release = await limiter.acquire(abort.signal);
    abort.abort();
    const next = limiter.acquire();
    expect(await granted(next)).toBe(false);
    release();
    expect(await granted(next)).toBe(true);
  });

  it('does not keep a process alive for a pause without waiting requests', async () => {
    const limiter = createLimiter(1);
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    limiter.overloaded(300_000);
    const abort = new AbortController();
    const waiting = limiter.acquire(abort.signal);
    expect(timers()).toBe(before + 1);
    abort.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
    expect(timers()).toBe(before);
  });
});
