import { describe, expect, it } from 'vitest';
import { createWorkers, type WorkerResult } from './workers.ts';

function setUp() {
  const jobs = new Map<string, PromiseWithResolvers<void>>();
  const aborted: string[] = [];
  const ended: [string, WorkerResult][] = [];
  const workers = createWorkers({
    work(image, signal) {
      const job = Promise.withResolvers<void>();
      jobs.set(image, job);
      signal.addEventListener('abort', () => {
        aborted.push(image);
        job.reject(new Error('aborted'));
      });
      return job.promise;
    },
    onEnd: (image, outcome) => ended.push([image, outcome]),
  });
  const end = async (image: string, error?: Error): Promise<void> => {
    if (error === undefined) jobs.get(image)?.resolve();
    else jobs.get(image)?.reject(error);
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { workers, begun: () => [...jobs.keys()], aborted, ended, end };
}

describe('workers', () => {
  it('run a limited number concurrently, in order, and start the next when one ends', async () => {
    const { workers, begun, ended, end } = setUp();
    workers.give(['a', 'b', 'c'], 2);
    expect(begun()).toEqual(['a', 'b']);
    await end('b');
    expect(begun()).toEqual(['a', 'b', 'c']);
    await end('a', new Error('no'));
    expect(ended).toMatchObject([
      ['b', { ok: true }],
      ['a', { ok: false }],
    ]);
    expect([workers.busy(), workers.underWay()]).toEqual([true, 1]);
    await end('c');
    expect(workers.busy()).toBe(false);
  });

  it('continue work in progress when they get another list, and do not repeat it', async () => {
    const { workers, begun, end, aborted } = setUp();
    workers.give(['a', 'b'], 1);
    workers.give(['c', 'a'], 1);
    await end('a');
    await end('c');
    expect(begun()).toEqual(['a', 'c']);
    expect(aborted).toEqual([]);
    expect(workers.busy()).toBe(false);
  });

  it('cancel work that is no longer desired, without a report', async () => {
    const { workers, aborted, ended, begun } = setUp();
    workers.give(['a', 'b', 'c'], 2);
    workers.endAllBut(new Set(['b']));
    await expect.poll(() => workers.underWay()).toBe(2);
    expect(aborted).toEqual(['a']);
    expect(begun()).toEqual(['a', 'b', 'c']);
    expect(ended).toEqual([]);
  });

  it('have ended all work when stopped, and start nothing', async () => {
    const { workers, begun } = setUp();
    workers.give(['a', 'b', 'c'], 2);
    await workers.stop();
    expect(begun()).toEqual(['a', 'b']);
    expect(workers.busy()).toBe(false);
  });
});
