import * as fc from 'fast-check';

/** Values for one field: those that a careful author writes, and those at and beyond the limits. */
export interface Values {
  good: fc.Arbitrary<unknown>;
  odd: fc.Arbitrary<unknown>;
  /** Every single value worth a separate case. */
  each: readonly unknown[];
}

const oneOf = (...values: readonly unknown[]): fc.Arbitrary<unknown> => fc.constantFrom(...values);
export const pools = (good: readonly unknown[], odd: readonly unknown[], ...more: fc.Arbitrary<unknown>[]): Values => ({
  good: oneOf(...good),
  odd: fc.oneof(oneOf(...good, ...odd), ...more),
  each: [...new Set([...good, ...odd])],
});

/** Text made of the pieces that a parser searches for, in any order: far nearer to its limits than random text. */
export const pieces = (...parts: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...parts), { maxLength: 9 }).map((list) => list.join(''));

// Every code point but the halves of surrogate pairs. The unit `binary` of fast-check is the same, and takes two seconds
// and 100 MB to prepare for shrinking values that it did not generate.
const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x8_00 })
  .map((code) => String.fromCodePoint(code < 0xd8_00 ? code : code + 0x8_00));

export const anyText = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: anyCharacter, maxLength: 8 }));
