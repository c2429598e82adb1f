import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { utf8Length } from './rules.ts';

it('the bytes of a text are counted as they are written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});
