import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeKind, isRecord, parseJson } from './json.ts';

describe('a JSON object', () => {
  it.each<[unknown, boolean]>([
    [{}, true],
    [{ a: 1 }, true],
    [[], false],
    [null, false],
    ['{}', false],
    [undefined, false],
  ])('%j: %s', (value, expected) => expect(isRecord(value)).toBe(expected));
});

describe('parsing JSON', () => {
  it('returns the value', () => expect(parseJson('{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } }));

  it('does not quote invalid text, which may be secret', () => {
    expect(parseJson('{"password": hunter2}')).toEqual({ ok: false, problem: 'expected JSON, found something else' });
  });

  it('does not parse a text that is too long', () => {
    expect(parseJson('[1,2]', { maxChars: 5 }).ok).toBe(true);
    expect(parseJson('[1,2]', { maxChars: 4 })).toEqual({
      ok: false,
      problem: 'expected at most 4 characters, found 5',
    });
  });

  it('law: it never throws, and parses the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof parseJson(text).ok).toBe('boolean');
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });
});

it.each<[unknown, string]>([
  [undefined, 'nothing'],
  [null, 'null'],
  [[1], 'a list'],
  [{ a: 1 }, 'an object'],
  ['secret', 'a string'],
  [1, 'a number'],
  [new Date(0), 'a date'],
])('the kind of %j: %s', (value, expected) => expect(describeKind(value)).toBe(expected));
