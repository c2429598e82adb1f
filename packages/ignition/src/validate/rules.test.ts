import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { utf8Length } from './rules.ts';

it('the length of a text is counted in UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});
