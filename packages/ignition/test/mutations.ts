import * as fc from 'fast-check';
import type { Json } from './configs.ts';
import { isObject } from './tidy.ts';

/** One small mutation of a config: `at` chooses the place, modulo the number of places. */
export interface Mutation {
  kind: 'replace' | 'remove' | 'rename' | 'recase' | 'add' | 'repeat' | 'copy';
  at: number;
  value: unknown;
}

const STRANGE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e21,
  2 ** 53,
  -(2 ** 63),
  420,
  '',
  'x',
  '420',
  'true',
  {},
  [],
  [null],
  [{}],
  ['a', 'a'],
  [[]],
  { a: 1 },
  [1],
  { name: 'a' },
  '\ud800',
  '\u0000',
  'é'.repeat(40),
  '__proto__',
  'constructor',
];
const STRANGE_KEYS = [
  'x',
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'Version',
  'ü',
  'a.b',
  '[0]',
  'PATH',
  'length',
];

export const mutations: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'rename', 'add', 'repeat', 'copy', 'recase'),
  at: fc.nat({ max: 10_000 }),
  value: fc.oneof(fc.constantFrom(...STRANGE_VALUES), fc.constantFrom(...STRANGE_KEYS), fc.jsonValue({ maxDepth: 2 })),
});

interface JsonSlot {
  holder: Json | unknown[];
  key: string | number;
}

/** The mutated config; a new copy, because fast-check reuses what it generated. */
export function mutate(config: Json, list: readonly Mutation[]): Json {
  const copy = structuredClone(config);
  for (const mutation of list) {
    const places = collectSlots(copy, []);
    const place = places[mutation.at % Math.max(places.length, 1)];
    if (place !== undefined) HARMS[mutation.kind](place, mutation, places);
  }
  return copy;
}

function collectSlots(value: unknown, found: JsonSlot[]): JsonSlot[] {
  if (Array.isArray(value)) {
    value.forEach((item, key) => {
      found.push({ holder: value, key });
      collectSlots(item, found);
    });
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      found.push({ holder: value, key });
      collectSlots(value[key], found);
    }
  }
  return found;
}

type Harm = (place: JsonSlot, mutation: Mutation, places: readonly JsonSlot[]) => void;

const HARMS: Record<Mutation['kind'], Harm> = {
  replace: (place, { value }) => write(place, value),
  copy: (place, { at }, places) => {
    const other = places[(at * 7919) % places.length];
    write(place, other === undefined ? null : read(other));
  },
  remove: (place) => remove(place),
  repeat: (place) => {
    if (Array.isArray(place.holder)) place.holder.push(structuredClone(read(place)));
  },
  add: ({ holder }, { value }) => {
    if (isObject(holder)) own(holder, toKey(value), 1);
  },
  rename: (place, { value }) => rename(place, toKey(value)),
  recase: (place) => rename(place, String(place.key).toUpperCase()),
};

const toKey = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function rename(place: JsonSlot, key: string): void {
  if (!isObject(place.holder)) return;
  const old = read(place);
  remove(place);
  own(place.holder, key, old);
}

function read({ holder, key }: JsonSlot): unknown {
  return Array.isArray(holder) ? holder[Number(key)] : holder[key];
}

function write({ holder, key }: JsonSlot, value: unknown): void {
  if (Array.isArray(holder)) holder[Number(key)] = structuredClone(value);
  else own(holder, String(key), structuredClone(value));
}

function remove({ holder, key }: JsonSlot): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

/** `__proto__` as an ordinary key, like JSON.parse. */
function own(holder: Json, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Mutations of the text, both those that a JSON parser must detect and those that it cannot. */
export interface TextMutation {
  kind:
    | 'none'
    | 'cut'
    | 'insert'
    | 'drop'
    | 'number'
    | 'twice'
    | 'space'
    | 'escape'
    | 'tail'
    | 'head'
    | 'deep'
    | 'huge';
  at: number;
  piece: string;
}

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  '\\',
  '\\u0041',
  '\\ud800',
  '\\x',
  '0',
  '-',
  '.',
  'e5',
  'null',
  'true',
  'NaN',
  '\u0000',
  '\u001f',
  '\u00a0',
  '\ufeff',
  '//',
  '/**/',
  '\n',
  '\t',
  ' ',
  "'",
  'é',
  '😀',
  '\u2028',
];

export const textMutations: fc.Arbitrary<TextMutation> = fc.oneof(
  { weight: 1000, arbitrary: fc.constant({ kind: 'none' as const, at: 0, piece: '' }) },
  {
    weight: 100,
    arbitrary: fc.record({
      kind: fc.constantFrom('cut', 'insert', 'drop', 'number', 'twice', 'space', 'escape', 'tail', 'head'),
      at: fc.nat({ max: 100_000 }),
      piece: fc.constantFrom(...PIECES),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('deep', 'huge'),
      at: fc.nat({ max: 100_000 }),
      piece: fc.constantFrom('[', '{"a":'),
    }),
  },
);

const NUMBER_FORMS = [
  '420.0',
  '4.2e2',
  '1E2',
  '-0',
  '1e400',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '01',
  '+1',
  '.5',
  '1.',
  '0x1',
];

type TextHarm = (text: string, at: number, piece: string) => string;

const TEXT_HARMS: Record<TextMutation['kind'], TextHarm> = {
  none: (text) => text,
  cut: (text, at) => text.slice(0, at % (text.length + 1)),
  insert: (text, at, piece) => splice(text, at, 0, piece),
  drop: (text, at) => splice(text, at, 1, ''),
  number: (text, at) =>
    replaceNth(text, /(?<=[:[,])-?\d+(?=[,}\]])/g, at, NUMBER_FORMS[at % NUMBER_FORMS.length] ?? '1'),
  twice: (text, at) =>
    replaceNth(
      text,
      /"[a-zA-Z]+":(?:"[^"\\]*"|\d+|true|false)(?=[,}])/g,
      at,
      (found) => `${found},${found.replace(/:.*/s, ':"again"')}`,
    ),
  space: (text, at) => replaceNth(text, /[:,{}[\]]/g, at, (found) => ` \t\r\n${found}\n `),
  escape: (text, at) =>
    replaceNth(text, /[a-z]/g, at, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`),
  tail: (text, _, piece) => text + piece,
  head: (text, _, piece) => piece + text,
  deep: (text, at, piece) =>
    replaceNth(text, /\}/g, at, `,"x":${piece.repeat(9000)}1${(piece === '[' ? ']' : '}').repeat(9000)}}`),
  huge: (text, at) => replaceNth(text, /\]/g, at, (found, index) => `${grow(text, index)}${found}`),
};

export function mutateText(text: string, { kind, at, piece }: TextMutation): string {
  return TEXT_HARMS[kind](text, at, piece);
}

function splice(text: string, at: number, removed: number, piece: string): string {
  const place = at % (text.length + 1);
  return text.slice(0, place) + piece + text.slice(place + removed);
}

/** Repeats the last item of the list that ends here two thousand times, each with another name. */
function grow(text: string, end: number): string {
  const start = Math.max(text.lastIndexOf('[', end), text.lastIndexOf('},{', end) + 1);
  const item = text.slice(start + 1, end);
  if (item === '' || item.length > 300) return '';
  return Array.from(
    { length: 2000 },
    (_, n) => `,${item.replace(/"(path|name|device|source|label)":"/, `"$1":"/n${n}`)}`,
  ).join('');
}

function replaceNth(
  text: string,
  pattern: RegExp,
  nth: number,
  by: string | ((found: string, index: number) => string),
): string {
  const all = [...text.matchAll(pattern)];
  const match = all[nth % Math.max(all.length, 1)];
  if (match === undefined) return text;
  const [found] = match;
  const replacement = typeof by === 'string' ? by : by(found, match.index);
  return text.slice(0, match.index) + replacement + text.slice(match.index + found.length);
}
