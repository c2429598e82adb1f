import { describe, expect, it } from 'vitest';
import { differences, objectDifferences } from './difference.ts';

describe('two values are compared', () => {
  it.each<[string, unknown, unknown, string[]]>([
    ['equal', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['whatever the order of fields', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['a missing field', { a: 1 }, {}, ['a: expected 1, found nothing']],
    ['a field too many', {}, { a: { b: 1 } }, ['a: expected nothing, found {"b":1}']],
    ['a null is not an absence', { a: null }, {}, ['a: expected null, found nothing']],
    ['a number is not its text', { a: 1 }, { a: '1' }, ['a: expected 1, found "1"']],
    [
      'in a list, by place',
      { a: ['x', 'y'] },
      { a: ['y'] },
      ['a.0: expected "x", found "y"', 'a.1: expected "y", found nothing'],
    ],
    ['a list is not an object', { a: [] }, { a: {} }, ['a: expected [], found {}']],
  ])('%s', (_, expected, found, result) => {
    expect(differences(expected, found)).toStrictEqual(result);
  });
});

describe('a stored object is compared with the expected one', () => {
  const stored = {
    metadata: {
      name: 'test-1',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: 't',
      managedFields: [],
    },
    spec: {},
  };

  it('without what the server adds, under whatever name it got', () => {
    expect(objectDifferences({ spec: {} }, stored)).toStrictEqual([]);
    expect(objectDifferences({ metadata: { name: 'x' }, spec: {} }, stored)).toStrictEqual([]);
  });

  it('but with its labels', () => {
    expect(objectDifferences({ metadata: { labels: { a: 'b' } }, spec: {} }, stored)).toStrictEqual([
      'metadata.labels: expected {"a":"b"}, found nothing',
    ]);
  });
});
