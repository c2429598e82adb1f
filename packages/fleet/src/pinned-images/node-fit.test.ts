import { describe, expect, it } from 'vitest';
import type { PinProgress } from './pin-progress.ts';
import { nodeFit, type SizedImage } from './space.ts';

const GB = 1e9;
const image = (...layers: [digest: string, size: number][]): SizedImage => ({
  layers: layers.map(([digest, size]) => ({ digest, size })),
});
/** 3 GB in all: the base is shared. */
const wanted = new Map([
  ['a', image(['base', 1 * GB], ['a', 1 * GB])],
  ['b', image(['base', 1 * GB], ['b', 1 * GB])],
]);
const said = (more: Partial<PinProgress> = {}): PinProgress => ({
  sets: [],
  bytes: null,
  bytesPerSecond: null,
  secondsLeft: null,
  waitsFor: '',
  lastError: '',
  store: { free: 8 * GB, size: 10 * GB },
  ...more,
});
const none = new Set<string>();
const other = { name: 'other', images: { done: 1, total: 2 }, bytes: { done: 1 * GB, total: 2 * GB } };

describe('whether images fit on a machine', () => {
  it.each([
    ['twice their layers, the shared once, and a reserve of a tenth', said(), none, 'fits', 6, 7 * GB],
    ['a byte less than that', said({ store: { free: 7 * GB - 1, size: 10 * GB } }), none, 'may not fit', 6, 6 * GB - 1],
    [
      'images that are already there count',
      said({ store: { free: 3 * GB, size: 10 * GB } }),
      new Set(['a']),
      'fits',
      2,
      2 * GB,
    ],
    ['other sets that it still pulls count', said({ sets: [other] }), none, 'may not fit', 8, 7 * GB],
    [
      'the same set that it still pulls counts once',
      said({ sets: [{ ...other, name: 'n' }] }),
      none,
      'fits',
      6,
      7 * GB,
    ],
    ['an unreported disk', said({ store: null }), none, 'not known', 6, null],
  ])('%s', (_, progress, held, verdict, needed, usable) => {
    const fit = nodeFit({ node: 'w', progress, wanted, held, sets: new Set(['n']) });
    expect(fit).toEqual({
      node: 'w',
      verdict,
      neededBytes: needed * GB,
      usableBytes: usable,
    });
  });

  it('is unknown without sizes, but the free space is reported', () => {
    const fit = nodeFit({ node: 'w', progress: said(), wanted: null, held: none, sets: none });
    expect(fit).toEqual({ node: 'w', verdict: 'not known', neededBytes: null, usableBytes: 7 * GB });
  });
});
