import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createDeadline, createRestingHosts, parseRetryAfter, readBounded, throwIfStopped } from './exchange.ts';

async function* chunks(...sizes: number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield new Uint8Array(size).fill(120);
}

describe('a bounded body', () => {
  it.each<[number[], number | null]>([
    [[], 0],
    [[3, 7], 10],
    [[3, 8], null],
    [[11], null],
  ])('chunks of %j: %s', async (sizes, expected) => {
    expect((await readBounded(chunks(...sizes), 10))?.length ?? null).toBe(expected);
  });

  it('is not read beyond its limit', async () => {
    let read = 0;
    let isEnded = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          read += 4;
          yield new Uint8Array(4);
        }
      } finally {
        isEnded = true;
      }
    }
    expect(await readBounded(endless(), 10)).toBeNull();
    expect([read, isEnded]).toEqual([12, true]);
  });

  it('rethrows read errors', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(1);
      throw new Error('cut');
    }
    await expect(readBounded(broken(), 10)).rejects.toThrow('cut');
  });
});

describe('a deadline', () => {
  it('passes', async () => {
    const deadline = createDeadline(1);
    await expect(wait(10_000, undefined, { signal: deadline.signal })).rejects.toThrow('aborted');
    expect(deadline.passed()).toBe(true);
    expect(deadline.signal.reason).toMatchObject({ name: 'TimeoutError' });
    expect(() => throwIfStopped(deadline.signal)).not.toThrow();
  });

  it('has not passed if the caller aborted', () => {
    const stop = new AbortController();
    const deadline = createDeadline(60_000, stop.signal);
    expect(() => throwIfStopped(deadline.signal)).not.toThrow();
    stop.abort(new Error('stop'));
    expect([deadline.signal.aborted, deadline.passed()]).toEqual([true, false]);
    expect(() => throwIfStopped(deadline.signal)).toThrow('stop');
    deadline.cancel();
  });

  it('never passes after it is cancelled', async () => {
    const deadline = createDeadline(1);
    deadline.cancel();
    await wait(20);
    expect(deadline.signal.aborted).toBe(false);
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 1);
  it.each<[string | string[] | undefined, number | undefined]>([
    ['7', 7000],
    [['7', '9'], 7000],
    [' 0 ', 0],
    ['300', 300_000],
    ['86400', 600_000],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9000],
    ['Thu, 01 Jan 2026 01:00:00 GMT', 600_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['', undefined],
    ['1'.repeat(200), undefined],
    [undefined, undefined],
  ])('%s', (header, expected) => expect(parseRetryAfter(header, now)).toBe(expected));
});

describe('a host that asked to be left alone', () => {
  it('is left alone for that time, and the longest request counts', () => {
    let now = 1000;
    const hosts = createRestingHosts(() => now);
    expect(hosts.remainingMs('a')).toBe(0);
    hosts.rest('a', 90_000);
    hosts.rest('a', 5000);
    expect([hosts.remainingMs('a'), hosts.remainingMs('b')]).toEqual([90_000, 0]);
    now += 60_000;
    expect(hosts.remainingMs('a')).toBe(30_000);
    now += 30_000;
    expect(hosts.remainingMs('a')).toBe(0);
  });

  it('is asked again if the clock is set back, instead of after days', () => {
    let now = 41 * 86_400_000;
    const hosts = createRestingHosts(() => now);
    hosts.rest('a', 90_000);
    now = 0;
    expect(hosts.remainingMs('a')).toBe(0);
    expect(hosts.remainingMs('a')).toBe(0);
  });

  it('is asked again after ten minutes, whatever it asked for', () => {
    const hosts = createRestingHosts(() => 0);
    hosts.rest('a', Infinity);
    expect(hosts.remainingMs('a')).toBe(600_000);
  });
});
