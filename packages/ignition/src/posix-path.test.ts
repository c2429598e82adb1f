import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanPath, extensionOf, isClean, joinPaths } from './posix-path.ts';

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

  it('is what tells whether an absolute path is clean', () => {
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
  expect(extensionOf(path)).toBe(extension);
});
