import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computePullAmount, sumImageBytes, type SizedImage, spaceFor } from './space.ts';

const GiB = 1024 ** 3;
const image = (...layers: readonly [digest: string, size: number][]): SizedImage => ({
  layers: layers.map(([digest, size]) => ({ digest, size })),
});

describe('the bytes of images', () => {
  it('count a shared layer once', () => {
    expect(sumImageBytes([image(['base', 100], ['a', 1]), image(['base', 100], ['b', 2]), image(['b', 2])])).toBe(103);
  });

  it('count as present for a missing image if another image has its layers', () => {
    const base = image(['base', 100], ['a', 1]);
    expect(computePullAmount([base, image(['base', 100], ['b', 2])], [base])).toStrictEqual({ done: 101, total: 103 });
  });

  it('of images that are not desired are not progress', () => {
    expect(computePullAmount([image(['a', 1])], [image(['z', 50])])).toStrictEqual({ done: 0, total: 1 });
  });

  it('are no more for several sets together than for each alone, and no less than for the largest', () => {
    const size = (digest: string): number => digest.charCodeAt(0);
    const images = fc.array(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 5 }).map((digests) => ({
        layers: digests.map((digest) => ({ digest, size: size(digest) })),
      })),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(images, images, images, (first, second, present) => {
        const both = sumImageBytes([...first, ...second]);
        expect(both).toBeLessThanOrEqual(sumImageBytes(first) + sumImageBytes(second));
        expect(both).toBeGreaterThanOrEqual(Math.max(sumImageBytes(first), sumImageBytes(second)));
        const { done, total } = computePullAmount(first, present);
        expect(total).toBe(sumImageBytes(first));
        expect(done).toBeLessThanOrEqual(total);
        expect(computePullAmount(first, [...present, ...first])).toStrictEqual({ done: total, total });
        expect(computePullAmount(first, [...present, ...second]).done).toBeGreaterThanOrEqual(done);
      }),
    );
  });
});

describe('whether images fit', () => {
  it.each([
    ['twice their bytes plus 2 GiB of a large disk', 10 * GiB, { free: 22 * GiB, size: 100 * GiB }, true],
    ['not a byte less', 10 * GiB, { free: 22 * GiB - 1, size: 100 * GiB }, false],
    ['a tenth of a small disk', 4 * GiB, { free: 9 * GiB, size: 10 * GiB }, true],
    ['a tenth of a small disk, and not a byte less', 4 * GiB, { free: 9 * GiB - 1, size: 10 * GiB }, false],
    ['nothing is missing', 0, { free: 0, size: 10 * GiB }, true],
    ['a full disk', 1, { free: 0, size: 10 * GiB }, false],
  ])('%s', (_, missing, store, fits) => expect(spaceFor(missing, store).fits).toBe(fits));

  it('has the needed and the usable space', () => {
    expect(spaceFor(5 * GiB, { free: 6 * GiB, size: 100 * GiB })).toStrictEqual({
      fits: false,
      needed: 10 * GiB,
      usable: 4 * GiB,
    });
  });
});
