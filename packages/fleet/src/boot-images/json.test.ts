import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  annotationSteps,
  fieldAt,
  objectAt,
  type PatchStep,
  patchSteps,
  shown,
  textAt,
  withField,
  type Json,
} from './json.ts';

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

  it('is no string and no object if it is something else', () => {
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

it('a message shows the value in short form', () => {
  expect(shown(undefined)).toBe('nothing');
  expect(shown('a\nb')).toBe(String.raw`"a\nb"`);
  expect(shown('x'.repeat(500))).toHaveLength(120);
});

/** Applies our patch steps as an API server does. */
function applied(document: Json, steps: readonly PatchStep[]): unknown {
  const root = { whole: structuredClone(document) as unknown };
  for (const step of steps) {
    const keys = ['whole', ...step.path.split('/').slice(1)].map((key) =>
      key.replaceAll('~1', '/').replaceAll('~0', '~'),
    );
    const last = keys.pop() ?? '';
    let at: unknown = root;
    for (const key of keys) at = Reflect.get(Object(at), key);
    if (step.op !== 'add' && !Object.hasOwn(Object(at), last)) throw new Error(`there is no ${step.path}`);
    if (step.op === 'remove') Reflect.deleteProperty(Object(at), last);
    else Object.defineProperty(at, last, { value: step.value, enumerable: true, configurable: true, writable: true });
  }
  return root.whole;
}

const json = fc.jsonValue({ depthSize: 'small' }) as fc.Arbitrary<Json>;

describe('the steps between two values', () => {
  it('lead from one to the other, whatever they are', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(applied(before, patchSteps(before, after, ''))).toEqual(after);
      }),
    );
  });

  it('are empty if nothing changes', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(patchSteps(value, structuredClone(value), '')).toEqual([]);
      }),
    );
  });

  it('touch one field of one disk, and none of its neighbours', () => {
    const disk = { boot: true, image: 'old', labels: null, sizeGb: 128 };
    const before = { disks: [disk, { boot: false }], region: 'us' };
    const after = { disks: [{ ...disk, image: 'new' }, { boot: false }], region: 'us' };
    expect(patchSteps(before, after, '/value')).toEqual([
      { op: 'replace', path: '/value/disks/0/image', value: 'new' },
    ]);
  });

  it('remove missing fields, and escape names', () => {
    expect(patchSteps({ 'a/b~c': 1, filters: [] }, { 'a/b~c': 2, id: 'x' }, '')).toEqual([
      { op: 'remove', path: '/filters' },
      { op: 'replace', path: '/a~1b~0c', value: 2 },
      { op: 'add', path: '/id', value: 'x' },
    ]);
  });
});

describe('the steps that set annotations', () => {
  it.each([
    [
      'the first of an object',
      undefined,
      { 'a/b': 'x' },
      [{ op: 'add', path: '/metadata/annotations', value: { 'a/b': 'x' } }],
    ],
    ['one next to others', { c: 'd' }, { 'a/b': 'x' }, [{ op: 'add', path: '/metadata/annotations/a~1b', value: 'x' }]],
    [
      'one that exists',
      { 'a/b': 'w' },
      { 'a/b': 'x' },
      [{ op: 'replace', path: '/metadata/annotations/a~1b', value: 'x' }],
    ],
    ['one to remove', { 'a/b': 'w' }, { 'a/b': null }, [{ op: 'remove', path: '/metadata/annotations/a~1b' }]],
    ['one to remove that does not exist', undefined, { 'a/b': null }, []],
  ] as const)('%s', (_, annotations, wanted, steps) => {
    expect(annotationSteps(annotations, wanted)).toEqual(steps);
  });
});
