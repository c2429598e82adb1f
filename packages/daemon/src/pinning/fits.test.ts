import type { SizedImage } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { whyItWouldNotFit } from './fits.ts';

const GB = 1000 ** 3;
const image = (...layers: [string, number][]): SizedImage => ({
  layers: layers.map(([digest, size]) => ({ digest, size })),
});
const sizes = new Map([
  ['base', image(['l1', GB])],
  ['app', image(['l1', GB], ['l2', 2 * GB])],
  ['tool', image(['l1', GB], ['l2', 2 * GB], ['l3', GB])],
]);
const store = (freeBytes: number) => ({ path: '/var/lib/containers', freeBytes, sizeBytes: 20 * GB });
/** Of 20 GB a tenth stays free. */
const RESERVE = 2 * GB;

describe('whether what is missing fits', () => {
  it.each<[string, string[], string[], number]>([
    ['one image', ['app'], [], 6 * GB],
    ['shared layers count once', ['app', 'tool'], [], 8 * GB],
    ['layers of images that are there count for nothing', ['app', 'tool'], ['base'], 6 * GB],
    ['nor do images that nobody knows the size of', ['app', 'riddle'], ['other'], 6 * GB],
  ])('%s', (_, missing, present, needed) => {
    const why = (free: number) => whyItWouldNotFit({ missing, present, sizes, store: store(free) });
    expect(why(needed + RESERVE)).toBeNull();
    expect(why(needed + RESERVE - 1)).toMatchObject({ code: 'SLW_PINNING_WOULD_NOT_FIT' });
  });

  it('both figures are told, and where', () => {
    const why = whyItWouldNotFit({ missing: ['app'], present: [], sizes, store: store(5 * GB) });
    expect(why?.message).toMatch(
      /1 image, needs 6 GB in \/var\/lib\/containers.*only 3 GB of it can be used: 5 GB are free/,
    );
  });
});
