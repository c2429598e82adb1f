import * as fc from 'fast-check';

/** Values for one field: those that a careful author writes, and those at and beyond the edge of what is allowed. */
export interface Values {
  good: fc.Arbitrary<unknown>;
  odd: fc.Arbitrary<unknown>;
  /** Every single value worth a case of its own. */
  each: readonly unknown[];
}

const oneOf = (...values: readonly unknown[]): fc.Arbitrary<unknown> => fc.constantFrom(...values);
export const pools = (good: readonly unknown[], odd: readonly unknown[], ...more: fc.Arbitrary<unknown>[]): Values => ({
  good: oneOf(...good),
  odd: fc.oneof(oneOf(...good, ...odd), ...more),
  each: [...new Set([...good, ...odd])],
});

/** Text made of the pieces that a parser looks for, in any order: far nearer to its edges than random text. */
export const pieces = (...parts: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...parts), { maxLength: 9 }).map((list) => list.join(''));

export const anyText = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 8 }));
