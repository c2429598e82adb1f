import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEqual, isEqualExcept } from './equal.ts';

describe('isEqual', () => {
  it.each([
    [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: undefined }, {}, true],
    [{ a: undefined }, { b: undefined }, true],
    [{ a: undefined }, { a: null }, false],
    [{}, [], false],
    [[1, 2], [2, 1], false],
    [[1], [1, undefined], false],
    [{ a: 1 }, null, false],
    ['1', 1, false],
  ])('%j and %j: %s', (a, b, same) => {
    expect(isEqual(a, b)).toBe(same);
    expect(isEqual(b, a)).toBe(same);
  });

  it('agrees with Node for every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(isEqual(a, b)).toBe(isDeepStrictEqual(a, b));
        expect(isEqual(a, structuredClone(a))).toBe(true);
      }),
    );
  });
});

describe('isEqualExcept', () => {
  it.each([
    [{ a: 1, at: 1 }, { a: 1, at: 2 }, true],
    [{ a: 1, at: 1 }, { a: 1 }, true],
    [{ a: { at: 1 } }, { a: { at: 2 } }, false],
    [{ a: 1, at: 1 }, { b: 1, at: 1 }, false],
    [{}, [], false],
  ])('%j and %j, without the field at: %s', (a, b, same) => {
    expect(isEqualExcept('at', a, b)).toBe(same);
    expect(isEqualExcept('at', b, a)).toBe(same);
  });

  it('is the same as isEqual of copies without the field', () => {
    const objects = fc.dictionary(
      fc.constantFrom('a', 'b', 'at'),
      fc.constantFrom<unknown>(undefined, 1, 2, [], {}, null),
    );
    const without = (object: Record<string, unknown>) => ({ ...object, at: undefined });
    fc.assert(
      fc.property(objects, objects, (a, b) => {
        expect(isEqualExcept('at', a, b)).toBe(isEqual(without(a), without(b)));
      }),
    );
  });
});
