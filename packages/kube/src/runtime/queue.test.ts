import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '@slipway/base/backoff';
import { createManualClock, settled } from '@slipway/testing/manual-clock';
import { createQueue, retries } from './queue.ts';
import type { RunOutcome, Queue } from './queue.ts';

/** A queue whose runs the test ends one by one. */
function queueUnderTest(workers = 1) {
  const clock = createManualClock();
  const log: string[] = [];
  const open = new Map<string, (outcome: RunOutcome) => void>();
  const queue: Queue = createQueue({
    workers,
    clock,
    random: () => 1,
    handle: (key) => {
      log.push(key);
      return new Promise((resolve) => open.set(key, resolve));
    },
  });
  const finish = async (key: string, outcome: RunOutcome = { type: 'done' }): Promise<void> => {
    const end = open.get(key);
    if (end === undefined) throw new Error(`${key} is not running`);
    open.delete(key);
    end(outcome);
    await settled();
  };
  return { queue, clock, log, finish };
}

describe('what waits', () => {
  it('a key that already waits is not queued twice', async () => {
    const { queue, log, finish } = queueUnderTest();
    for (const key of ['a', 'b', 'a', 'b', 'a']) queue.add(key);
    expect(queue.depth).toBe(2);
    queue.start();
    await settled();
    await finish('a');
    await finish('b');
    expect(log).toEqual(['a', 'b']);
  });

  it('nothing runs before the start', async () => {
    const { queue, log } = queueUnderTest();
    queue.add('a');
    await settled();
    expect(log).toEqual([]);
    queue.start();
    await settled();
    expect(log).toEqual(['a']);
  });

  it('a key added while it runs is run once more afterwards, never concurrently', async () => {
    const { queue, log, finish } = queueUnderTest(4);
    queue.start();
    queue.add('a');
    await settled();
    queue.add('a');
    queue.add('a');
    await settled();
    expect(log).toEqual(['a']);
    await finish('a');
    expect(log).toEqual(['a', 'a']);
    await finish('a');
    expect(log).toEqual(['a', 'a']);
  });

  it('no more keys than workers run concurrently', async () => {
    const { queue, log, finish } = queueUnderTest(2);
    queue.start();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await settled();
    expect(log).toEqual(['a', 'b']);
    expect(queue.running).toBe(2);
    await finish('b');
    expect(log).toEqual(['a', 'b', 'c']);
  });
});

describe('times', () => {
  it('of several due times for one key the earliest counts', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    queue.add('a', { afterMs: 500 });
    queue.add('a', { afterMs: 100 });
    queue.add('a', { afterMs: 900 });
    await clock.advance(99);
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(log).toEqual(['a']);
    await finish('a');
    await clock.advance(10_000);
    expect(log).toEqual(['a']);
  });

  it('a change does not wait for a delayed run, and replaces it', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    queue.add('a', { afterMs: 500 });
    queue.add('a');
    await settled();
    expect(log).toEqual(['a']);
    await finish('a');
    await clock.advance(1000);
    expect(log).toEqual(['a']);
  });

  it('a run that requests another one gets it on time', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    queue.add('a');
    await settled();
    await finish('a', { type: 'again', afterMs: 50 });
    await clock.advance(49);
    expect(log).toEqual(['a']);
    await clock.advance(1);
    expect(log).toEqual(['a', 'a']);
  });
});

describe('failures', () => {
  it('the backoff doubles from 5 ms to 2 minutes, less up to a half', () => {
    const delays = [1, 2, 3, 10, 17, 18, 1000].map((count) => [
      backoffMs(retries, count, () => 0),
      backoffMs(retries, count, () => 1),
    ]);
    expect(delays).toEqual([
      [2.5, 5],
      [5, 10],
      [10, 20],
      [1280, 2560],
      [60_000, 120_000],
      [60_000, 120_000],
      [60_000, 120_000],
    ]);
  });

  it('a key that fails waits longer each time, and starts over after a success', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    queue.add('a');
    await settled();
    for (const wait of [5, 10, 20]) {
      await finish('a', { type: 'retry' });
      const runs = log.length;
      await clock.advance(wait - 1);
      expect(log.length).toBe(runs);
      await clock.advance(1);
      expect(log.length).toBe(runs + 1);
    }
    await finish('a');
    queue.add('a');
    await settled();
    await finish('a', { type: 'retry' });
    await clock.advance(5);
    expect(log.length).toBe(6);
  });

  it('a retry runs no earlier than the server allows, and a conflict no later than requested', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    queue.add('a');
    await settled();
    await finish('a', { type: 'retry', atLeastMs: 3000 });
    queue.add('a');
    await clock.advance(2999);
    expect(log.length).toBe(1);
    await clock.advance(1);
    expect(log.length).toBe(2);
    await finish('a', { type: 'retry', atMostMs: 2 });
    await clock.advance(2);
    expect(log.length).toBe(3);
  });

  it('a change of a key that has failed often waits at most one second', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    queue.add('a');
    await settled();
    for (let failures = 0; failures < 17; failures += 1) {
      await finish('a', { type: 'retry' });
      await clock.advance(120_000);
    }
    await finish('a', { type: 'retry' });
    const runs = log.length;
    queue.add('a');
    await clock.advance(999);
    expect(log.length).toBe(runs);
    await clock.advance(1);
    expect(log.length).toBe(runs + 1);
  });

  it('a key that is held has neither failed nor succeeded: the backoff continues afterwards', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    queue.add('a');
    await settled();
    await finish('a', { type: 'retry' });
    await clock.advance(5);
    await finish('a', { type: 'held', afterMs: 100 });
    await clock.advance(99);
    expect(log).toEqual(['a', 'a']);
    await clock.advance(1);
    expect(log).toEqual(['a', 'a', 'a']);
    await finish('a', { type: 'retry' });
    await clock.advance(9);
    expect(log).toEqual(['a', 'a', 'a']);
    await clock.advance(1);
    expect(log).toEqual(['a', 'a', 'a', 'a']);
  });

  it('a key that is held without a time waits until it is added', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    queue.add('a');
    await settled();
    await finish('a', { type: 'held' });
    await clock.advance(1_000_000);
    expect(log).toEqual(['a']);
    queue.add('a');
    await settled();
    expect(log).toEqual(['a', 'a']);
  });

  it('a handler that rejects is a failure like any other', async () => {
    const clock = createManualClock();
    let runs = 0;
    const queue = createQueue({
      workers: 1,
      clock,
      handle: () => {
        runs += 1;
        return runs === 1 ? Promise.reject(new Error('bug')) : Promise.resolve({ type: 'done' });
      },
    });
    queue.start();
    queue.add('a');
    await clock.advance(5);
    expect(runs).toBe(2);
  });
});

describe('fairness', () => {
  it('a key that is constantly requeued does not starve the others', async () => {
    const { queue, log, finish } = queueUnderTest();
    queue.start();
    queue.add('busy');
    for (const key of ['a', 'b']) queue.add(key);
    await settled();
    for (let round = 0; round < 3; round += 1) {
      const running = log.at(-1) ?? '';
      queue.add('busy');
      await finish(running);
    }
    expect(log).toEqual(['busy', 'a', 'b', 'busy']);
  });

  it('resyncs are queued behind real changes', async () => {
    const { queue, log, finish } = queueUnderTest();
    for (const key of ['r1', 'r2']) queue.add(key, { resync: true });
    for (const key of ['c1', 'c2']) queue.add(key);
    queue.start();
    await settled();
    for (const key of ['c1', 'c2', 'r1', 'r2']) await finish(key);
    expect(log).toEqual(['c1', 'c2', 'r1', 'r2']);
  });

  it('a resync that becomes a change moves to the changes', async () => {
    const { queue, log, finish } = queueUnderTest();
    for (const key of ['r1', 'r2']) queue.add(key, { resync: true });
    queue.add('c1');
    queue.add('r2');
    expect(queue.depth).toBe(3);
    queue.start();
    await settled();
    for (const key of ['c1', 'r2', 'r1']) await finish(key);
    expect(log).toEqual(['c1', 'r2', 'r1']);
  });

  it('resyncs are not starved by endless changes', async () => {
    const { queue, log, finish } = queueUnderTest();
    queue.add('resync', { resync: true });
    queue.add('c0');
    queue.start();
    await settled();
    for (let turn = 1; turn < 10; turn += 1) {
      queue.add(`c${turn}`);
      await finish(log.at(-1) ?? '');
    }
    expect(log.indexOf('resync')).toBe(7);
  });
});

describe('stop', () => {
  it('accepts no more keys and waits for those that run', async () => {
    const { queue, clock, log, finish } = queueUnderTest();
    queue.start();
    for (const key of ['a', 'b']) queue.add(key);
    queue.add('later', { afterMs: 10 });
    await settled();
    let stopped = false;
    const stop = queue.stop().then(() => (stopped = true));
    await clock.advance(1000);
    expect(stopped).toBe(false);
    queue.add('c');
    await finish('a', { type: 'retry' });
    await stop;
    await clock.advance(1_000_000);
    expect(log).toEqual(['a']);
  });
});

describe('laws', () => {
  const keys = ['a', 'b', 'c', 'd'] as const;
  const add = fc.record({
    key: fc.constantFrom(...keys),
    afterMs: fc.constantFrom(0, 0, 3, 20, 500),
    resync: fc.boolean(),
    /** Time that passes before the next add. */
    pause: fc.constantFrom(0, 0, 1, 7),
  });
  const run = fc.record({
    takesMs: fc.constantFrom(0, 1, 5, 40),
    outcome: fc.constantFrom<RunOutcome>(
      { type: 'done' },
      { type: 'done' },
      { type: 'again', afterMs: 10 },
      { type: 'retry' },
      { type: 'retry', atLeastMs: 30 },
      { type: 'retry', atMostMs: 1 },
    ),
  });

  it('every added key runs after its add, never twice concurrently, and the queue never exceeds the keys', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(add, { minLength: 1, maxLength: 30 }),
        fc.array(run, { maxLength: 30 }),
        fc.integer({ min: 1, max: 3 }),
        async (adds, plannedRuns, workers) => {
          const clock = createManualClock();
          const active = new Set<string>();
          const lastAdd = new Map<string, number>();
          const lastStart = new Map<string, number>();
          const broken: string[] = [];
          let order = 0;
          const queue = createQueue({
            workers,
            clock,
            random: () => 0.5,
            handle: async (key) => {
              // Not an expect: the queue would treat a rejection as a failed run.
              if (active.has(key) || active.size >= workers) broken.push(key);
              active.add(key);
              lastStart.set(key, (order += 1));
              const planned = plannedRuns.shift() ?? { takesMs: 0, outcome: { type: 'done' } };
              await new Promise<void>((resolve) => void clock.setTimer(planned.takesMs, resolve));
              active.delete(key);
              return planned.outcome;
            },
          });
          queue.start();
          for (const { key, afterMs, resync, pause } of adds) {
            lastAdd.set(key, (order += 1));
            queue.add(key, { afterMs, resync });
            expect(queue.depth).toBeLessThanOrEqual(keys.length);
            await clock.advance(pause);
          }
          await clock.advance(600_000);
          expect(broken).toEqual([]);
          for (const [key, at] of lastAdd) expect(lastStart.get(key)).toBeGreaterThan(at);
          expect(queue.depth + queue.running).toBe(0);
        },
      ),
      { numRuns: 200 },
    );
  });
});
