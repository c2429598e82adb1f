import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  annotationCodec,
  anything,
  array,
  boolean,
  decode,
  type Decoder,
  decodeValue,
  integer,
  literal,
  map,
  nullable,
  number,
  object,
  oneOf,
  optional,
  optionalReadable,
  orNull,
  readableEntries,
  readableItems,
  record,
  refine,
  stateFileCodec,
  string,
  tagged,
  time,
  tuple,
  withDefault,
  withFallback,
} from './codec.ts';

const read = (decoder: Decoder<unknown>, value: unknown): unknown => {
  const decoded = decodeValue(decoder, value);
  return decoded.ok ? decoded.value : `refused: ${decoded.problem}`;
};

describe('a single value', () => {
  it.each<[string, Decoder<unknown>, unknown, unknown]>([
    ['a string', string(), 'a', 'a'],
    ['not a string', string(), 1, 'refused: expected a string, found a number'],
    ['a string that is too long', string({ max: 2 }), 'abc', 'refused: expected at most 2 characters, found 3'],
    ['a string that matches a pattern', string({ pattern: /^[a-z]+$/ }), 'abc', 'abc'],
    [
      'a string that does not match',
      string({ pattern: /^[a-z]+$/ }),
      'S3cret',
      'refused: expected a string that matches /^[a-z]+$/, found another string',
    ],
    ['a number', number(), 1.5, 1.5],
    ['not a number', number(), '1', 'refused: expected a number, found a string'],
    ['a number that JSON cannot contain', number(), Number.NaN, 'refused: expected a number, found a number'],
    ['a number that is too small', number({ min: 1 }), 0, 'refused: expected at least 1, found 0'],
    ['a number that is too large', number({ max: 1 }), 2, 'refused: expected at most 1, found 2'],
    ['a number outside a range', number({ min: 1, max: 3 }), 4, 'refused: expected 1 to 3, found 4'],
    ['an integer', integer({ min: 1 }), 1, 1],
    ['not an integer', integer(), 1.5, 'refused: expected an integer, found something else'],
    ['an integer that is not exact', integer(), 2 ** 53, 'refused: expected an integer, found something else'],
    ['a flag', boolean, false, false],
    ['not a flag', boolean, 'true', 'refused: expected true or false, found a string'],
    ['a time', time, '2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z'],
    ['not a time', time, 'yesterday', 'refused: expected a time, found a string'],
    ['one of several', oneOf(['a', 'b']), 'b', 'b'],
    ['none of them', oneOf(['a', 'b']), 'c', 'refused: expected one of a, b, found a string'],
    ['the only one', literal(1), 1, 1],
    ['anything', anything, { a: [1] }, { a: [1] }],
    ['null', nullable(string()), null, null],
    ['a missing value that may be null', nullable(string()), undefined, 'refused: expected a string, found nothing'],
    ['a missing value that becomes null', orNull(string()), undefined, null],
    ['a value that may be null', orNull(string()), 'a', 'a'],
    ['a missing value with a default', withDefault(string(), 'a'), undefined, 'a'],
    ['an invalid value with a default', withDefault(string(), 'a'), 1, 'refused: expected a string, found a number'],
    ['an invalid value with a fallback', withFallback(string(), ''), 1, ''],
    ['a valid value with a fallback', withFallback(string(), ''), 'a', 'a'],
    ['a rule that is met', refine(string(), (text) => text !== '', 'some text'), 'a', 'a'],
    [
      'a rule that does not',
      refine(string(), (text) => text !== '', 'some text'),
      '',
      'refused: expected some text, found something else',
    ],
    ['a converted value', map(string(), (text) => text.length), 'abc', 3],
  ])('%s', (_, decoder, value, expected) => expect(read(decoder, value)).toEqual(expected));
});

describe('several values', () => {
  it.each<[string, Decoder<unknown>, unknown, unknown]>([
    ['a list', array(string()), ['a', 'b'], ['a', 'b']],
    ['an object instead of a list', array(string()), { 0: 'a' }, 'refused: expected a list, found an object'],
    ['an invalid item', array(string()), ['a', 1], 'refused: [1]: expected a string, found a number'],
    ['too many items', array(string(), { max: 1 }), ['a', 'b'], 'refused: expected at most 1 item, found 2'],
    ['only the valid items', readableItems(string()), ['a', 1, 'b'], ['a', 'b']],
    ['a pair', tuple(string(), number()), ['a', 1], ['a', 1]],
    ['half a pair', tuple(string(), number()), ['a'], 'refused: [1]: expected a number, found nothing'],
    ['entries', record(number()), { a: 1 }, new Map([['a', 1]])],
    ['a list instead of entries', record(number()), [1], 'refused: expected an object, found a list'],
    ['an invalid entry', record(number()), { a: 'x' }, 'refused: a: expected a number, found a string'],
    [
      'a wrong key',
      record(number(), { key: string({ max: 1 }) }),
      { ab: 1 },
      'refused: expected at most 1 characters, found 2',
    ],
    ['too many entries', record(number(), { max: 1 }), { a: 1, b: 2 }, 'refused: expected at most 1 key, found 2'],
    [
      'entries that can be read',
      readableEntries(number(), { key: string({ max: 1 }) }),
      { a: 1, b: 'x', cd: 2 },
      new Map([['a', 1]]),
    ],
  ])('%s', (_, decoder, value, expected) => expect(read(decoder, value)).toEqual(expected));

  it('a key that exists on Object.prototype is an ordinary key', () => {
    expect(read(record(number()), JSON.parse('{"__proto__":1}'))).toEqual(new Map([['__proto__', 1]]));
    expect(read(object({ toString: optional(string()) }), {})).toEqual({});
  });
});

describe('an object', () => {
  const set = object({
    name: string(),
    generation: integer({ min: 1 }),
    note: optional(string()),
    since: optionalReadable(time),
  });

  it.each<[string, unknown, unknown]>([
    [
      'has its fields, in their order, and no others',
      { generation: 1, more: 'x', name: 'a' },
      { name: 'a', generation: 1 },
    ],
    [
      'may have those that are optional',
      { name: 'a', generation: 1, note: 'n' },
      { name: 'a', generation: 1, note: 'n' },
    ],
    ['lacks one', { name: 'a' }, 'refused: generation: expected a number, found nothing'],
    ['has a wrong one', { name: 1, generation: 1 }, 'refused: name: expected a string, found a number'],
    [
      'has a wrong one that is optional',
      { name: 'a', generation: 1, note: 1 },
      'refused: note: expected a string, found a number',
    ],
    ['has a wrong one that may be left out', { name: 'a', generation: 1, since: 'x' }, { name: 'a', generation: 1 }],
    ['is a list', [], 'refused: expected an object, found a list'],
    ['is null', null, 'refused: expected an object, found null'],
  ])('%s', (_, value, expected) => {
    const found = read(set, value);
    expect(found).toStrictEqual(expected);
    expect(JSON.stringify(found)).toBe(JSON.stringify(expected));
  });

  it('is typed by its fields', () => {
    const typed: Decoder<{
      readonly name: string;
      readonly generation: number;
      readonly note?: string;
      readonly since?: string;
    }> = set;
    expect(typed).toBe(set);
  });

  it('reports where it is invalid, without the value', () => {
    const nested = object({ sets: array(object({ 'odd name': array(set) })) });
    const value = {
      sets: [
        {
          'odd name': [
            { name: 'a', generation: 1 },
            { name: 'b', generation: 'S3cret' },
          ],
        },
      ],
    };
    expect(read(nested, value)).toBe('refused: sets[0][…][1].generation: expected a number, found a string');
  });

  const step = tagged('op', {
    remove: object({ path: string() }),
    add: object({ path: string(), value: anything }),
  });

  it.each<[unknown, unknown]>([
    [
      { op: 'remove', path: '/a', value: 1 },
      { op: 'remove', path: '/a' },
    ],
    [
      { op: 'add', path: '/a', value: 1 },
      { op: 'add', path: '/a', value: 1 },
    ],
    [{ op: 'move', path: '/a' }, 'refused: op: expected one of remove, add, found a string'],
    [{ op: 'toString', path: '/a' }, 'refused: op: expected one of remove, add, found a string'],
    [{ path: '/a' }, 'refused: op: expected one of remove, add, found nothing'],
    ['add', 'refused: expected an object, found a string'],
  ])('of several shapes: %j', (value, expected) => expect(read(step, value)).toEqual(expected));

  it('of several shapes is typed by its tag', () => {
    const typed: Decoder<
      | { readonly op: 'remove'; readonly path: string }
      | { readonly op: 'add'; readonly path: string; readonly value: unknown }
    > = step;
    expect(typed).toBe(step);
  });
});

it('an exception in a decoder is a bug, and is rethrown', () => {
  const broken = map(string(), () => {
    throw new Error('bug');
  });
  expect(() => decodeValue(broken, 'a')).toThrow('bug');
});

const memory = object({ image: string(), times: array(time, { max: 3 }), held: optional(boolean) });

describe('an annotation', () => {
  const codec = annotationCodec({ decoder: memory, maxChars: 100, missing: undefined, unreadable: null });

  it.each<[string, string | undefined, unknown]>([
    ['that is not there', undefined, undefined],
    ['that is not JSON', 'x', null],
    ['that is too long', `{"image":"","times":[]}${' '.repeat(100)}`, null],
    ['that is not whole', '{"image":"a"}', null],
    ['that is whole', '{"image":"a","times":[],"more":1}', { image: 'a', times: [] }],
  ])('%s', (_, text, expected) => expect(codec.decode(text)).toEqual(expected));

  it('is written with toJson', () => {
    const decoder = record(integer());
    const sorted = annotationCodec({
      decoder,
      maxChars: 100,
      missing: null,
      unreadable: null,
      toJson: (value) => Object.fromEntries([...value].toReversed()),
    });
    expect(
      sorted.encode(
        new Map([
          ['b', 1],
          ['a', 2],
        ]),
      ),
    ).toBe('{"a":2,"b":1}');
  });

  it('law: a written value is read back, and no text makes it throw', () => {
    const memories = fc.record(
      {
        image: fc.string({ maxLength: 10 }),
        times: fc.array(fc.constant('2026-03-01T12:00:00Z'), { maxLength: 2 }),
        held: fc.boolean(),
      },
      { requiredKeys: ['image', 'times'] },
    );
    const roomy = annotationCodec({ decoder: memory, maxChars: 1000, missing: null, unreadable: null });
    fc.assert(
      fc.property(memories, (value) => {
        expect(roomy.decode(roomy.encode(value))).toEqual(value);
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const found = codec.decode(text);
        expect(found === null || typeof found?.image === 'string').toBe(true);
      }),
    );
  });
});

describe('a state file', () => {
  const codec = stateFileCodec({ decoder: memory, maxChars: 1000, format: 2 });

  it('contains its format, and is read back', () => {
    const text = codec.encode({ image: 'a', times: [] });
    expect(text).toBe('{"format":2,"image":"a","times":[]}');
    expect(codec.decode(text)).toEqual({ ok: true, value: { image: 'a', times: [] } });
    expect(codec.decode(new TextEncoder().encode(text))).toEqual({ ok: true, value: { image: 'a', times: [] } });
  });

  it.each<[string, string, string]>([
    ['of another format', '{"format":3,"image":"a","times":[]}', 'format: expected one of 2, found a number'],
    ['of none', '{"image":"a","times":[]}', 'format: expected one of 2, found nothing'],
    ['that is not whole', '{"format":2,"image":"a"}', 'times: expected a list, found nothing'],
    ['that was cut off', '{"format":2,"ima', 'expected JSON, found something else'],
  ])('%s is rejected', (_, text, problem) => expect(codec.decode(text)).toEqual({ ok: false, problem }));

  it('may have no format', () => {
    const plain = stateFileCodec({ decoder: memory, maxChars: 1000 });
    expect(plain.encode({ image: 'a', times: [] })).toBe('{"image":"a","times":[]}');
    expect(plain.decode('{"image":"a","times":[]}').ok).toBe(true);
  });
});

it('a text that is too long is not parsed', () => {
  expect(decode(string(), '"abc"', { maxChars: 4 })).toEqual({
    ok: false,
    problem: 'expected at most 4 characters, found 5',
  });
});
