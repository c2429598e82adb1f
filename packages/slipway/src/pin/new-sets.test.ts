import type { PinnedImageSet } from '@slipway/api';
import type { Stored } from '@slipway/kube';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leftOver, newSets } from './new-sets.ts';

const images = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `registry.example.com/a/b@sha256:${String(index).padStart(64, '0')}`);
const labels = { role: 'worker' };
const stored = (name: string, of: readonly string[], more: object = { labels }): Stored<PinnedImageSet> => ({
  metadata: { name, uid: 'u', resourceVersion: '1', ...more },
  spec: { pinnedImages: of.map((image) => ({ name: image })) },
});
const present = (...sets: Stored<PinnedImageSet>[]) => new Map(sets.map((set) => [set.metadata.name, set]));

describe('the sets of a list of images', () => {
  it('hold every image once and in order, at most 500 a set, in no more sets than it takes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2600 }), (count) => {
        const sets = newSets({ name: 'n', labels, images: images(count), present: present() });
        const parts = sets.map(({ object }) => object.spec.pinnedImages.map((image) => image.name));
        expect(parts.flat()).toEqual(images(count));
        expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(500);
        expect(sets).toHaveLength(Math.ceil(count / 500));
        expect(new Set(sets.map(({ object }) => object.metadata.name)).size).toBe(sets.length);
      }),
      { numRuns: 20 },
    );
  });

  it('are named so that a list that grows past one set leaves the first where it is', () => {
    const names = newSets({ name: 'n', labels, images: images(1001), present: present() });
    expect(names.map(({ object }) => object.metadata.name)).toEqual(['n', 'n-2', 'n-3']);
  });

  it.each([
    ['is not there', undefined, { change: 'make', added: 3, removed: 0 }],
    ['is so already', stored('n', images(3)), { change: 'none', added: 0, removed: 0 }],
    ['has them in another order', stored('n', images(3).toReversed()), { change: 'none' }],
    ['has others', stored('n', images(5).slice(2)), { change: 'change', added: 2, removed: 2 }],
    ['has another label', stored('n', images(3), { labels: { role: 'master' } }), { change: 'change', added: 0 }],
    [
      'has labels of its own beside ours',
      stored('n', images(3), { labels: { ...labels, a: 'b' } }),
      { change: 'none' },
    ],
  ])('say what changes where one %s', (_, before, expected) => {
    const sets = newSets({ name: 'n', labels, images: images(3), present: present(...(before ? [before] : [])) });
    expect(sets).toMatchObject([expected]);
  });

  it('leave those of a longer list alone, and tell of them', () => {
    const before = present(
      stored('n', images(3)),
      stored('n-2', images(3)),
      stored('n-3', images(3)),
      stored('n-5', []),
    );
    expect(leftOver({ name: 'n', images: images(3), present: before })).toEqual(['n-2', 'n-3']);
    expect(leftOver({ name: 'n', images: images(1001), present: before })).toEqual([]);
  });
});
