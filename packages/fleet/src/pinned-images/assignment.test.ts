import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAssignment, encodeAssignment, MOST_SETS, type PinAssignment } from './assignment.ts';

const assignment: fc.Arbitrary<PinAssignment> = fc.record({
  sets: fc
    .uniqueArray(
      fc.record({
        name: fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,40}[a-z0-9])?$/),
        uid: fc.uuid(),
        generation: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      }),
      { selector: ({ name }) => name, maxLength: MOST_SETS },
    )
    .map((sets) => sets.toSorted((a, b) => (a.name < b.name ? -1 : 1))),
  mayPull: fc.boolean(),
  parallel: fc.integer({ min: 1, max: 32 }),
});

const whole: PinAssignment = {
  sets: [
    { name: 'app', uid: 'u1', generation: 3 },
    { name: 'release', uid: 'u2', generation: 1 },
  ],
  mayPull: true,
  parallel: 5,
};
const changed = (change: Readonly<Record<string, unknown>>): string => JSON.stringify({ ...whole, ...change });
const withSet = (change: Readonly<Record<string, unknown>>): string =>
  changed({ sets: [{ ...whole.sets[0], ...change }] });

describe('what a node is to hold', () => {
  it('reads as it was written', () => {
    fc.assert(
      fc.property(assignment, (each) => {
        expect(decodeAssignment(encodeAssignment(each))).toEqual(each);
      }),
    );
  });

  it('fits into an annotation with the most sets of the longest names', () => {
    const sets = Array.from({ length: MOST_SETS }, (_, index) => ({
      name: `${'n'.repeat(250)}${String(index).padStart(3, '0')}`,
      uid: crypto.randomUUID(),
      generation: 2 ** 31 - 1,
    }));
    const text = encodeAssignment({ sets, mayPull: false, parallel: 32 });
    expect(text.length).toBeLessThan(40_000);
    expect(decodeAssignment(text)?.sets).toHaveLength(MOST_SETS);
  });

  it.each([
    ['text', 'pins'],
    ['nothing', 'null'],
    ['a list', '[]'],
    ['a list of one', `[${encodeAssignment(whole)}]`],
    ['a set that is a list', changed({ sets: [[]] })],
    ['no sets', '{"mayPull":true,"parallel":1}'],
    ['sets that are no list', changed({ sets: {} })],
    ['sets in disorder', changed({ sets: whole.sets.toReversed() })],
    ['a set twice', changed({ sets: [whole.sets[0], whole.sets[0]] })],
    ['a name that is a path', withSet({ name: '../nodes' })],
    ['a name that is too long', withSet({ name: 'n'.repeat(254) })],
    ['no uid', withSet({ uid: undefined })],
    ['a uid of any length', withSet({ uid: 'u'.repeat(129) })],
    ['a generation of nothing', withSet({ generation: 0 })],
    ['a generation that is no number', withSet({ generation: '1' })],
    ['a word for a flag', changed({ mayPull: 'yes' })],
    ['no pulls at all', changed({ parallel: 0 })],
    ['too many pulls', changed({ parallel: 33 })],
    [
      'too many sets',
      changed({
        sets: Array.from({ length: 101 }, (_, index) => ({ name: `s${1000 + index}`, uid: 'u', generation: 1 })),
      }),
    ],
    ['more text than anybody reads', `${' '.repeat(65 * 1024)}${encodeAssignment(whole)}`],
  ])('is nothing to go by where it is %s', (_, text) => {
    expect(decodeAssignment(text)).toBeNull();
  });
});
