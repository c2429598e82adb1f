import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameFrom, parseSetName } from './command.ts';

describe('the name of a set', () => {
  it.each(['release-4.22.0-worker', 'a', '4.22.0', 'a'.repeat(240)])('may be %s', (name) => {
    expect(parseSetName(name)).toBe(name);
  });

  it.each(['', 'Shop', '-a', 'a-', 'a..b', 'a.-b', 'a_b', 'a'.repeat(241)])('may not be %j', (name) => {
    expect(() => parseSetName(name)).toThrow('expected an object name');
  });

  it.each([
    ['4.22.0', '4.22.0'],
    ['4.22.0-0.okd-scos+Build_7', '4.22.0-0.okd-scos-build-7'],
    ['My Images', 'my-images'],
    ['…', ''],
  ])('from %j is %j', (text, name) => {
    expect(nameFrom(text)).toBe(name);
  });

  it('from any text is valid', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), (text) => {
        const name = nameFrom(text);
        const whole = ['release', name, 'worker'].filter(Boolean).join('-');
        expect(parseSetName(whole)).toBe(whole);
      }),
    );
  });
});
