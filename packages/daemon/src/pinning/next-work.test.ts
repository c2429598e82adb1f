import type { SizedImage } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import type { Attempts } from './attempts.ts';
import { nextWork, type Work, type WorkInput } from './next-work.ts';
import { imageOf, presentOf, setOf } from './testing/sample-sets.ts';

const sized: SizedImage = { layers: [{ digest: 'sha256:1', size: 10 }] };
const sizesOf = (...words: string[]): ReadonlyMap<string, SizedImage> =>
  new Map(words.map((word) => [imageOf(word), sized]));
const problem = { code: 'SLW_PINNING_PULL', message: 'no' };
const tried = (tries: number, notBefore: number): Attempts => ({
  tries,
  firstAt: 0,
  lastAt: 50_000,
  notBefore,
  problem,
});
const attemptsOf = (entries: Record<string, Attempts>): ReadonlyMap<string, Attempts> =>
  new Map(Object.entries(entries).map(([word, attempts]) => [imageOf(word), attempts]));

const well = { isReady: true, hasDiskPressure: false };
const input: WorkInput = {
  wanted: [setOf('s', ['a', 'b']), setOf('t', ['b', 'c'])],
  present: presentOf('a'),
  sizes: new Map(),
  attempts: new Map(),
  node: well,
  mayPull: true,
  startsAt: 0,
  now: 60_000,
};
const idle: Work = { learn: [], pull: [], stop: false, waitsFor: '', wakeAt: null };
const images = (...words: string[]): string[] => words.map(imageOf);

describe('what is done about missing images', () => {
  it.each<[string, Partial<WorkInput>, Work]>([
    ['nothing where all are there', { present: presentOf('a', 'b', 'c') }, idle],
    ['first their sizes', {}, { ...idle, learn: images('b', 'c') }],
    ['nothing is pulled until all sizes are known', { sizes: sizesOf('b') }, { ...idle, learn: images('c') }],
    ['then they are pulled, shared ones once', { sizes: sizesOf('b', 'c') }, { ...idle, pull: images('b', 'c') }],
    [
      'one that cannot be sized holds the others up while it may only be a hiccup',
      { sizes: sizesOf('b'), attempts: attemptsOf({ c: tried(2, 61_000) }) },
      { ...idle, wakeAt: 61_000, waitsFor: 'the registry to say how large 1 image will be' },
    ],
    [
      'and no longer once it counts as failed',
      { sizes: sizesOf('b'), attempts: attemptsOf({ c: tried(3, 61_000) }) },
      { ...idle, pull: images('b'), wakeAt: 61_000 },
    ],
    [
      'one that failed waits, the others go on',
      { sizes: sizesOf('b', 'c'), attempts: attemptsOf({ b: tried(1, 61_000) }) },
      { ...idle, pull: images('c'), wakeAt: 61_000 },
    ],
    [
      'and is tried again when it is time',
      { sizes: sizesOf('b', 'c'), attempts: attemptsOf({ b: tried(5, 60_000) }) },
      { ...idle, pull: images('b', 'c') },
    ],
    [
      'a node that is not Ready waits',
      { node: { ...well, isReady: false } },
      { ...idle, waitsFor: 'the node to be Ready' },
    ],
    [
      'with disk pressure all stops',
      { node: { ...well, hasDiskPressure: true } },
      { ...idle, stop: true, waitsFor: 'the disk pressure of the node to end' },
    ],
    ['machines begin one after another', { startsAt: 65_000 }, { ...idle, wakeAt: 65_000 }],
  ])('%s', (_, more, expected) => {
    expect(nextWork({ ...input, ...more })).toEqual(expected);
  });

  it('a machine whose turn has not come asks the registry for nothing', () => {
    const work = nextWork({ ...input, mayPull: false, sizes: sizesOf('b') });
    expect(work).toMatchObject({ learn: [], pull: [], waitsFor: expect.stringContaining('its turn') });
  });
});
