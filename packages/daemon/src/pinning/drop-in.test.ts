import * as fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { dropInOf } from './drop-in.ts';
import { imageOf, setOf } from './testing/sample-sets.ts';

describe('what CRI-O is told', () => {
  it('is nothing where nothing is pinned', () => {
    expect(dropInOf([])).toBeNull();
  });

  it('is the union of all sets, sorted, in one table', () => {
    expect(
      dropInOf([setOf('s', ['b', 'a']), setOf('t', ['b', 'c'])])
        ?.split('\n')
        .slice(1),
    ).toEqual([
      '[crio.image]',
      'pinned_images = [',
      `  "${imageOf('a')}",`,
      `  "${imageOf('b')}",`,
      `  "${imageOf('c')}",`,
      ']',
      '',
    ]);
  });

  it('is TOML that reads back as the images, and does not depend on the order of the sets', () => {
    const words = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
    fc.assert(
      fc.property(words, words, (one, two) => {
        const sets = [setOf('s', one), setOf('t', two)];
        const text = dropInOf(sets) ?? '';
        expect(parse(text)).toEqual({
          crio: { image: { pinned_images: [...new Set([...one, ...two])].map(imageOf).toSorted() } },
        });
        expect(dropInOf(sets.toReversed())).toBe(text);
      }),
    );
  });
});
