import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { findPrefixes } from './prefix.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', '/', '-', 'é'), maxLength: 6 });

it('a text has a prefix exactly when one of them starts it and is shorter', () => {
  fc.assert(
    fc.property(fc.array(word), fc.array(word), (prefixes, texts) => {
      findPrefixes(prefixes, texts).forEach((found, index) => {
        const text = texts[index] ?? '';
        expect(found !== null).toBe(prefixes.some((prefix) => text.startsWith(prefix) && text !== prefix));
        expect(text.startsWith(found ?? '')).toBe(true);
      });
    }),
    { numRuns: 2000 },
  );
});
