import { describe, expect, it } from 'vitest';
import { fieldAt, objectAt, shown, textAt, withField } from './json-path.ts';

const value = { a: { b: 'text', list: [{ c: 1 }] }, none: null };

describe('a field of JSON', () => {
  it.each([
    [['a', 'b'], 'text'],
    [['none'], null],
    [['a', 'b', 'c'], undefined],
    [['none', 'b'], undefined],
    [['a', 'list', '0'], undefined],
    [['constructor'], undefined],
    [['a', 'toString', 'name'], undefined],
    [['__proto__'], undefined],
    [['a', 'b', 'length'], undefined],
  ])('at %j is %j', (path, found) => {
    expect(fieldAt(value, ...path)).toEqual(found);
  });

  it('is no text and no object where it is something else', () => {
    expect([
      textAt(value, 'a'),
      textAt(value, 'none'),
      objectAt(value, 'a', 'b'),
      objectAt(value, 'a', 'list'),
    ]).toEqual(['', '', {}, {}]);
  });

  it('is set without a change of anything else, or of the order', () => {
    expect(JSON.stringify(withField(value, ['a', 'b'], 'other'))).toBe(JSON.stringify(value).replace('text', 'other'));
    expect(withField({}, ['a', 'b'], 'new')).toEqual({ a: { b: 'new' } });
  });
});

it('a message shows what was found, in short', () => {
  expect(shown(undefined)).toBe('nothing');
  expect(shown('a\nb')).toBe(String.raw`"a\nb"`);
  expect(shown('x'.repeat(500))).toHaveLength(121);
});
