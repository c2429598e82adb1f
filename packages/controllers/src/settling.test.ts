import { describe, expect, it } from 'vitest';
import { createSettling } from './settling.ts';

describe('settling', () => {
  it('waits a moment after a change, and not when nothing changes', () => {
    const settling = createSettling();
    expect(settling.waitFor('worker', ['a'], 0)).toBe(250);
    expect(settling.waitFor('worker', ['a'], 100)).toBe(150);
    expect(settling.waitFor('worker', ['a'], 250)).toBe(0);
    expect(settling.waitFor('worker', ['a'], 251)).toBe(0);
    expect(settling.waitFor('worker', ['a'], 1_000_000)).toBe(0);
    expect(settling.waitFor('worker', ['b'], 1_000_001)).toBe(250);
  });

  it('waits for the end of a burst, but not for ever', () => {
    const settling = createSettling();
    const waits: number[] = [];
    for (let now = 0; now <= 3000; now += 100) waits.push(settling.waitFor('worker', [now], now));
    expect(waits.slice(0, 28).every((wait) => wait === 250)).toBe(true);
    expect(waits.at(-1)).toBe(0);
  });

  it('knows one pool from the other', () => {
    const settling = createSettling();
    settling.waitFor('worker', ['a'], 0);
    expect(settling.waitFor('worker', ['a'], 300)).toBe(0);
    expect(settling.waitFor('master', ['a'], 300)).toBe(250);
    settling.forget('worker');
    expect(settling.waitFor('worker', ['a'], 301)).toBe(250);
  });
});
