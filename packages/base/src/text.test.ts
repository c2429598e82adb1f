import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytePattern,
  count,
  formatBytes,
  listNames,
  oneLine,
  parseBytes,
  printableLine,
  quote,
  roundBytes,
  truncate,
  truncateBytes,
  truncateStart,
} from './text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });
const countBytes = (text: string): number => new TextEncoder().encode(text).length;

describe('a text that is too long', () => {
  it.each<[string, number, string]>([
    ['worker', 6, 'worker'],
    ['worker', 5, 'work…'],
    ['worker', 1, '…'],
    ['worker', 0, ''],
    // A character of two code units.
    ['ab😀cd', 4, 'ab…'],
    ['ab😀cd', 5, 'ab😀…'],
  ])('%j at most %i: %j', (text, max, expected) => expect(truncate(text, max)).toBe(expected));

  it('can have another ending, or none', () => {
    expect(truncate('worker', 4, '')).toBe('work');
    expect(truncate('worker', 5, '...')).toBe('wo...');
    expect(truncate('a😀', 2, '')).toBe('a');
  });

  it.each<[string, number, string]>([
    ['worker', 6, 'worker'],
    ['worker', 5, '…rker'],
    ['ab😀cd', 4, '…cd'],
    ['ab😀cd', 5, '…😀cd'],
    ['worker', 0, ''],
  ])('%j by its end, at most %i: %j', (text, max, expected) => expect(truncateStart(text, max)).toBe(expected));

  it.each<[string, number, string]>([
    ['worker', 6, 'worker'],
    ['worker', 5, 'wo…'],
    ['äöüäöü', 9, 'äöü…'],
    ['äöüäöü', 10, 'äöü…'],
    ['😀😀😀', 10, '😀…'],
    ['worker', 2, 'wo'],
    ['\u{FEFF}worker', 8, '\u{FEFF}wo…'],
  ])('%j in at most %i bytes: %j', (text, max, expected) => expect(truncateBytes(text, max)).toBe(expected));

  it('law: it stays within the limit, stays well-formed, and is a prefix of the text', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, max) => {
        const cut = truncate(text, max);
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut === text || text.startsWith(cut.replace(/…$/, ''))).toBe(true);
        const end = truncateStart(text, max);
        expect(end.length).toBeLessThanOrEqual(max);
        expect(end.isWellFormed() && (end === text || text.endsWith(end.replace(/^…/, '')))).toBe(true);
        const bytes = truncateBytes(text, max);
        expect(countBytes(bytes)).toBeLessThanOrEqual(max);
        expect(bytes === text || text.startsWith(bytes.replace(/…$/, ''))).toBe(true);
      }),
    );
  });
});

describe('a text in one line', () => {
  it.each([
    ['a\nb', 'a b'],
    ['a  b', 'a  b'],
    ['a \n\t\n  b\r\nc', 'a b c'],
    ['\na\n', ' a '],
    ['\n \n', ' '],
    ['', ''],
  ])('%j: %j', (text, expected) => expect(oneLine(text)).toBe(expected));

  it('law: it equals the result of the quadratic pattern', () => {
    const texts = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t', '\u2028', 'a', '\uFEFF'), maxLength: 30 });
    fc.assert(
      fc.property(texts, (text) => {
        expect(oneLine(text)).toBe(text.replaceAll(/\s*\n\s*/g, ' '));
      }),
    );
  });

  it('has a limit', () => expect(oneLine('one\ntwo', 5)).toBe('one …'));

  it.each([
    [' a\u0000\u001B[1m\n b\t', 'a [1m b'],
    ['a\u2028b\u0085c', 'a b c'],
    ['a\uD83D', 'a\uFFFD'],
  ])('from another program, %j: %j', (text, expected) => expect(printableLine(text)).toBe(expected));

  it('from another program, has a limit', () => expect(printableLine('a  b  c  ', 4)).toBe('a b…'));

  it('in quotes, shows control characters', () => {
    expect(quote('a"\n')).toBe(String.raw`"a\"\n"`);
    expect(quote('abcdef', 4)).toBe('"abc…"');
  });
});

describe('a count', () => {
  it.each([
    [0, '0 nodes'],
    [1, '1 node'],
    [2, '2 nodes'],
  ])('%i: %s', (amount, expected) => expect(count(amount, 'node')).toBe(expected));

  it('can have an irregular plural', () => expect(count(2, 'policy', 'policies')).toBe('2 policies'));
});

describe('a list of names', () => {
  it.each<[string[], Parameters<typeof listNames>[1], string]>([
    [[], { max: 2 }, ''],
    [[], { max: 2, none: 'none' }, 'none'],
    [['a', 'b'], { max: 2 }, 'a, b'],
    [['a', 'b', 'c', 'd'], { max: 2 }, 'a, b and 2 more'],
    [['a', 'b', 'c'], { max: 2, separator: '; ' }, 'a; b and 1 more'],
    [['a', 'b'], { max: 2, total: 9 }, 'a, b and 7 more'],
  ])('%j %j: %s', (names, options, expected) => expect(listNames(names, options)).toBe(expected));
});

describe('bytes', () => {
  it.each<[number, string, string]>([
    [0, '0 B', '0 B'],
    [999, '999 B', '999 B'],
    [1000, '1 kB', '1 kB'],
    [12_345_678, '12.34 MB', '12.35 MB'],
    [99_999, '99.99 kB', '100 kB'],
    [1e20, '9.999 PB', '9.999 PB'],
    [-1, '0 B', '0 B'],
  ])('%d: %s, %s', (bytes, down, up) => expect([formatBytes(bytes), formatBytes(bytes, 'up')]).toEqual([down, up]));

  it('law: the formatted number is parsed back exactly', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom('up' as const, 'down' as const), (bytes, rounding) => {
        const text = formatBytes(bytes, rounding);
        expect(text).toMatch(new RegExp(`^${bytePattern}$`));
        expect(parseBytes(text)).toBe(roundBytes(bytes, rounding));
        expect(formatBytes(parseBytes(text), rounding)).toBe(text);
      }),
    );
  });
});
