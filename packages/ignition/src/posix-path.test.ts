import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanPath, getExtension, findPrefixes, isClean, joinPaths } from './posix-path.ts';

describe('the shortest form of a path', () => {
  it.each([
    ['', '.'],
    ['/', '/'],
    ['//', '/'],
    ['/a/', '/a'],
    ['/a//b', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/..', '/'],
    ['/../a', '/a'],
    ['a/..', '.'],
    ['../a', '../a'],
    ['a/../../b', '../b'],
    ['/a/..b', '/a/..b'],
    ['/a/...', '/a/...'],
  ])('of %j is %j', (path, clean) => {
    expect(cleanPath(path)).toBe(clean);
  });

  it('determines whether an absolute path is clean', () => {
    const part = fc.constantFrom('/', '.', '..', 'a', 'b.c', '');
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const path = `/${parts.join('')}`;
        expect(isClean(path)).toBe(cleanPath(path) === path);
      }),
      { numRuns: 2000 },
    );
  });
});

it.each([
  [['/', '', 'a'], '/a'],
  [['', '/a/'], '/a'],
  [['/a', '../b'], '/b'],
  [['', ''], ''],
])('%j joined is %j', (parts, joined) => {
  expect(joinPaths(...parts)).toBe(joined);
});

it.each([
  ['a.service', '.service'],
  ['a.b.service', '.service'],
  ['.conf', '.conf'],
  ['a', ''],
  ['a.b/c', ''],
  ['a.', '.'],
])('the extension of %j is %j', (path, extension) => {
  expect(getExtension(path)).toBe(extension);
});

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
