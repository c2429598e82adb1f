import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markNotIntegers, scanJson } from './json-scan.ts';

describe('duplicate keys', () => {
  it.each([
    ['{"a":1,"b":2}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{"a":{"b":[{"c":1,"c":2}]}}', ['a.b[0].c']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"a":"a","b":"a"}', []],
    ['[{"a":1},{"a":1}]', []],
    ['{"a":"x\\"","a":1}', ['a']],
    ['{"a":"\\\\","b":1}', []],
    [`{${Array.from({ length: 40 }, (_, i) => `"k${i}":0`).join(',')},"k3":1}`, ['k3']],
  ])('%s', (text, duplicates) => {
    expect(scanJson(text, { depth: 100, values: 1_000_000 }).duplicates).toEqual(duplicates);
  });

  it('are found in any object, and only there', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 3 }), (value) => {
        expect(scanJson(JSON.stringify(value), { depth: 100, values: 1_000_000 }).duplicates).toEqual([]);
      }),
    );
  });
});

describe('numbers that are not written as integers', () => {
  const integers = { names: new Set(['a', 'b']), depth: 2 };

  it.each([
    ['{"a":420}', []],
    ['{"a":-7}', []],
    ['{"a":420.0}', ['420.0']],
    ['{"c":{"a":4.2e2}}', ['4.2e2']],
    ['{"a":"420.0","b":1E1}', ['1E1']],
    ['{"c":1.5}', []],
    ['{"a":[1.5]}', []],
    ['{"c":{"c":{"a":1.5}}}', []],
  ])('%s', (text, found) => {
    const { notIntegers } = scanJson(text, { depth: 100, values: 1_000_000 }, integers);
    expect(notIntegers.map(({ start, end }) => text.slice(start, end))).toEqual(found);
  });

  it('are marked so that they are no longer numbers', () => {
    const text = '{"a":420.0,"c":1.5,"b":{"a":1e3}}';
    expect(markNotIntegers(text, scanJson(text, { depth: 100, values: 1_000_000 }, integers))).toBe(
      '{"a":["420.0"],"c":1.5,"b":{"a":["1e3"]}}',
    );
  });

  it('cost nothing outside the fields of the spec', () => {
    const began = process.threadCpuUsage();
    const deep = `${'['.repeat(9990)}${'1.5,'.repeat(20_000)}1${']'.repeat(9990)}`;
    expect(scanJson(deep, { depth: 10_000, values: 1_000_000 }, integers).notIntegers).toEqual([]);
    const { user, system } = process.threadCpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});

it.each([
  ['[[1]]', 2, false],
  ['[[[1]]]', 2, true],
  ['{"a":{"b":{}}}', 2, true],
  ['["[[[["]', 1, false],
])('%s nests deeper than %i: %s', (text, depth, tooDeep) => {
  expect(scanJson(text, { depth, values: 1_000_000 }).tooDeep).toBe(tooDeep);
});

it.each([
  ['[1,2,3]', 3, false],
  ['[1,2,3]', 2, true],
  ['{"a":{"b":[]}}', 2, true],
  ['["1,2,3,4"]', 1, false],
])('%s has more than %i values: %s', (text, values, tooMany) => {
  expect(scanJson(text, { depth: 10, values }).tooMany).toBe(tooMany);
});

it('ends on any text, with positions inside the text', () => {
  const unit = fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '1', '.', 'e', 'a');
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const { notIntegers } = scanJson(text, { depth: 10, values: 1_000_000 }, { names: new Set(['a']), depth: 10 });
      expect(notIntegers.every(({ start, end }) => start < end && end <= text.length)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
