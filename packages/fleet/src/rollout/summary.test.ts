import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNames } from './node-state.ts';
import { machines } from './summary.ts';

const list = (names: readonly string[]): string => formatNames(names.map((name) => ({ name })));

describe('formatNames', () => {
  it.each([
    [[], ''],
    [['a'], 'a'],
    [['c', 'a', 'b'], 'a, b, c'],
    [['d', 'c', 'b', 'a'], 'a, b, c and 1 more'],
  ])('%j', (names, text) => {
    expect(list(names)).toBe(text);
  });

  it('names the first ones in any input order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 4 }), (names) => {
        expect(list(names)).toBe(`${names.toSorted().slice(0, 3).join(', ')} and ${names.length - 3} more`);
      }),
    );
  });

  it('uses the singular for one machine', () => {
    expect([machines(0), machines(1), machines(2)]).toEqual(['0 machines', '1 machine', '2 machines']);
  });
});
