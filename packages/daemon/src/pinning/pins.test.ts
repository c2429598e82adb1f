import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePins, isComplete, type PinsInput } from './pins.ts';
import { presentOf, setOf } from './testing/sample-sets.ts';
import type { WantedSet } from './wanted-set.ts';

const input = (more: Partial<PinsInput>): PinsInput => ({
  wanted: [],
  unknown: new Set(),
  pinned: [],
  present: new Set(),
  isWell: true,
  ...more,
});

describe('what is pinned next', () => {
  const old = setOf('s', ['a', 'b'], 1);
  const grown = setOf('s', ['a', 'b', 'c'], 2);
  const shrunk = setOf('s', ['a'], 3);
  const other = setOf('t', ['d']);
  it.each<[string, Partial<PinsInput>, readonly WantedSet[]]>([
    ['nothing of a set that is not all there', { wanted: [old], present: presentOf('a') }, []],
    ['a set that is all there', { wanted: [old], present: presentOf('a', 'b') }, [old]],
    [
      'the earlier generation until the new one is there',
      { wanted: [grown], pinned: [old], present: presentOf('a', 'b') },
      [old],
    ],
    ['then the new one', { wanted: [grown], pinned: [old], present: presentOf('a', 'b', 'c') }, [grown]],
    [
      'a set of which an image has disappeared, as before',
      { wanted: [old], pinned: [old], present: presentOf('a') },
      [old],
    ],
    ['no set that nobody wants any more', { pinned: [old], present: presentOf('a', 'b') }, []],
    ['a set that cannot be read now, as before', { unknown: new Set(['s']), pinned: [old] }, [old]],
    ['each set for itself', { wanted: [grown, other], pinned: [old], present: presentOf('a', 'd') }, [old, other]],
    [
      'nothing new on a node that is not well',
      { wanted: [grown], pinned: [old], present: presentOf('a', 'b', 'c'), isWell: false },
      [old],
    ],
    [
      'less on a node that is not well',
      { wanted: [shrunk], pinned: [old], present: presentOf('a'), isWell: false },
      [shrunk],
    ],
    ['not what is gone, well or not', { pinned: [old], isWell: false }, []],
    [
      'one that was made anew, when that is there',
      { wanted: [setOf('s', ['c'], 1, 'other')], pinned: [old], present: presentOf('a', 'b') },
      [old],
    ],
  ])('%s', (_, more, expected) => {
    expect(decidePins(input(more))).toEqual(expected);
  });

  const letters = ['a', 'b', 'c', 'd', 'e', 'f'];
  const set = fc.record({
    name: fc.constantFrom('s', 't', 'u'),
    words: fc.uniqueArray(fc.constantFrom(...letters), { minLength: 1 }),
    generation: fc.integer({ min: 1, max: 3 }),
  });
  const sets = fc
    .uniqueArray(set, { selector: ({ name }) => name })
    .map((list) => list.map(({ name, words, generation }) => setOf(name, words, generation)));

  it('never pins a set that was not pinned and is not all there, and gives up none that is wanted', () => {
    fc.assert(
      fc.property(sets, sets, fc.subarray(letters), fc.boolean(), (wanted, pinned, there, isWell) => {
        const present = presentOf(...there);
        const next = decidePins(input({ wanted, pinned, present, isWell }));
        for (const each of next) expect(pinned.includes(each) || isComplete(each, present)).toBe(true);
        const names = new Set(next.map(({ name }) => name));
        for (const { name } of pinned) expect(names.has(name)).toBe(wanted.some((each) => each.name === name));
        expect(decidePins(input({ wanted, pinned: next, present, isWell }))).toEqual(next);
      }),
    );
  });
});
