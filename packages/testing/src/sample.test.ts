import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRandom } from './random.ts';
import { chooseIndexes, drawSample, sampleCases, sampleSeed, sampleStep } from './sample.ts';

describe('a sample', () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  beforeEach(() => vi.stubEnv('SLIPWAY_SAMPLE', ''));
  afterEach(() => vi.unstubAllEnvs());

  it('is a fifth of the cases, in their order, each once', () => {
    const sample = drawSample('this test', items);
    expect(sample).toHaveLength(20);
    expect(sample).toEqual([...new Set(sample)].sort((a, b) => a - b));
  });

  it('is the same for the same seed, and different for another test', () => {
    expect(drawSample('this test', items)).toEqual(drawSample('this test', items));
    expect(drawSample('this test', items)).not.toEqual(drawSample('that test', items));
    expect(sampleSeed()).toBe(sampleSeed());
  });

  it('has at least one case if there are few', () => {
    expect(drawSample('this test', ['only'])).toEqual(['only']);
    expect(chooseIndexes(3, 5, 1)).toEqual([0, 1, 2]);
  });

  it('is everything in test:slow', () => {
    expect(sampleCases('this test', items, 1 / 2)).toHaveLength(50);
    expect(sampleStep('this test', 3)).toEqual({
      first: expect.toSatisfy((first) => [1, 2, 3].includes(first)),
      step: 3,
    });
    vi.stubEnv('SLIPWAY_SAMPLE', 'all');
    expect(sampleCases('this test', items, 1 / 2)).toEqual(items);
    expect(sampleStep('this test', 3)).toEqual({ first: 1, step: 1 });
  });

  it('covers every case over time', () => {
    const seen = new Set(Array.from({ length: 60 }, (_, seed) => chooseIndexes(20, 4, seed)).flat());
    expect(seen.size).toBe(20);
  });
});

describe('a random generator', () => {
  it('repeats for the same seed, stays within its bounds, and forks independently', () => {
    const [a, b] = [createRandom(7), createRandom(7)];
    const drawn = Array.from({ length: 50 }, () => a.int(3, 9));
    expect(Array.from({ length: 50 }, () => b.int(3, 9))).toEqual(drawn);
    expect(new Set(drawn)).toEqual(new Set([3, 4, 5, 6, 7, 8, 9]));
    const fork = a.fork();
    const next = b.fork();
    fork.next();
    expect(a.next()).toBe(b.next());
    expect(next.next()).not.toBe(fork.next());
  });
});
