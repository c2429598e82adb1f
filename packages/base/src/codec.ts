// Decoders for JSON that other clients can edit: annotations, state files. An invalid value is rejected with its path,
// and never quoted, because it may be secret.
import { describeKind, isRecord, parseJson, type Parsed } from './json.ts';
import { count } from './text.ts';

/** Decodes the value at a path such as `sets[2].name`, or rejects it. Decoders are combined; `decode` runs them. */
export type Decoder<T> = (value: unknown, path: string) => T;

export type Decoded<D> = D extends Decoder<infer T> ? T : never;

/** Never leaves this file: `decode` turns it into a value. */
class Refusal extends Error {}

function refuse(path: string, expected: string, found: string): never {
  throw new Refusal(`${path === '' ? '' : `${path}: `}expected ${expected}, found ${found}`);
}

/** Decodes JSON; a longer text is not parsed. The problem has the path, the expectation and the type of the value. */
export function decode<T>(decoder: Decoder<T>, text: string, limit: { readonly maxChars: number }): Parsed<T> {
  const parsed = parseJson(text, limit);
  return parsed.ok ? decodeValue(decoder, parsed.value) : parsed;
}

export function decodeValue<T>(decoder: Decoder<T>, value: unknown): Parsed<T> {
  try {
    return { ok: true, value: decoder(value, '') };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, problem: error.message };
  }
}

export interface StringLimits {
  readonly max?: number;
  readonly pattern?: RegExp;
}

export function string({ max = Infinity, pattern }: StringLimits = {}): Decoder<string> {
  return (value, path) => {
    if (typeof value !== 'string') return refuse(path, 'a string', describeKind(value));
    if (value.length > max) return refuse(path, `at most ${max} characters`, String(value.length));
    if (pattern !== undefined && !pattern.test(value))
      return refuse(path, `a string that matches ${pattern}`, 'another string');
    return value;
  };
}

export interface NumberLimits {
  readonly min?: number;
  readonly max?: number;
}

export function number({ min = -Infinity, max = Infinity }: NumberLimits = {}): Decoder<number> {
  return (value, path) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return refuse(path, 'a number', describeKind(value));
    return value >= min && value <= max ? value : refuse(path, rangeText(min, max), String(value));
  };
}

const rangeText = (min: number, max: number): string => {
  if (max === Infinity) return `at least ${min}`;
  return min === -Infinity ? `at most ${max}` : `${min} to ${max}`;
};

/** Only safe integers: larger ones are not exact. */
export const integer = (limits: NumberLimits = {}): Decoder<number> =>
  refine(number(limits), Number.isSafeInteger, 'an integer');

export const boolean: Decoder<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'true or false', describeKind(value));

/** Unchecked, for a later decoder. */
export const anything: Decoder<unknown> = (value) => value;

/** A date and time that Date.parse accepts. */
export const time: Decoder<string> = (value, path) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : refuse(path, 'a time', describeKind(value));

export function oneOf<const T extends string | number | boolean | null>(allowed: readonly T[]): Decoder<T> {
  return (value, path) => {
    const found = allowed.find((each) => each === value);
    if (found === undefined) return refuse(path, `one of ${allowed.join(', ')}`, describeKind(value));
    return found;
  };
}

export const literal = <const T extends string | number | boolean | null>(only: T): Decoder<T> => oneOf([only]);

export interface ListLimits {
  readonly max?: number;
}

const readList = (value: unknown, path: string, { max = Infinity }: ListLimits): readonly unknown[] => {
  if (!Array.isArray(value)) return refuse(path, 'a list', describeKind(value));
  return value.length <= max ? value : refuse(path, `at most ${count(max, 'item')}`, String(value.length));
};

export const array =
  <T>(item: Decoder<T>, limits: ListLimits = {}): Decoder<T[]> =>
  (value, path) =>
    readList(value, path, limits).map((each, index) => item(each, `${path}[${index}]`));

/** Invalid items are dropped. */
export const readableItems =
  <T>(item: Decoder<T>, limits: ListLimits = {}): Decoder<T[]> =>
  (value, path) =>
    readList(value, path, limits).flatMap((each) => readable(item, each));

/** A list of fixed length with one decoder per item. Further items are ignored. */
export function tuple<const D extends readonly Decoder<unknown>[]>(
  ...items: D
): Decoder<{ -readonly [K in keyof D]: Decoded<D[K]> }> {
  return (value, path) => {
    const list = readList(value, path, {});
    const decoded: unknown[] = items.map((item, index) => item(list[index], `${path}[${index}]`));
    return decoded as { -readonly [K in keyof D]: Decoded<D[K]> };
  };
}

export interface RecordLimits {
  readonly max?: number;
  readonly key?: Decoder<string>;
}

/** A Map, because a key may be any string, even `__proto__`. */
export const record =
  <T>(item: Decoder<T>, { max, key = string() }: RecordLimits = {}): Decoder<Map<string, T>> =>
  (value, path) =>
    new Map(readEntries(value, path, max).map(([name, each]) => [key(name, path), item(each, at(path, name))]));

/** Invalid entries are dropped. */
export const readableEntries =
  <T>(item: Decoder<T>, { max, key = string() }: RecordLimits = {}): Decoder<Map<string, T>> =>
  (value, path) =>
    new Map(
      readEntries(value, path, max).flatMap(([name, each]) =>
        readable(key, name).flatMap((good) => readable(item, each).map((read): [string, T] => [good, read])),
      ),
    );

function readEntries(value: unknown, path: string, max = Infinity): [string, unknown][] {
  if (!isRecord(value)) return refuse(path, 'an object', describeKind(value));
  const entries = Object.entries(value);
  return entries.length <= max ? entries : refuse(path, `at most ${count(max, 'key')}`, String(entries.length));
}

/** One item, or none if it is invalid. */
function readable<T>(decoder: Decoder<T>, value: unknown): T[] {
  const found = decodeValue(decoder, value);
  return found.ok ? [found.value] : [];
}

const at = (path: string, name: string): string => {
  const step = /^[A-Za-z_]\w{0,63}$/.test(name) ? `.${name}` : '[…]';
  return path === '' && step.startsWith('.') ? step.slice(1) : path + step;
};

/** For an optional field of `object`. */
export type OptionalDecoder<T> = Decoder<T | undefined> & { readonly isOptional: true };

const asOptional = <T>(read: Decoder<T | undefined>): OptionalDecoder<T> =>
  Object.assign((value: unknown, path: string) => (value === undefined ? undefined : read(value, path)), {
    isOptional: true as const,
  });

/** A missing field stays missing; an invalid one is rejected. */
export const optional = <T>(decoder: Decoder<T>): OptionalDecoder<T> => asOptional(decoder);

/** An invalid field is dropped. */
export const optionalReadable = <T>(decoder: Decoder<T>): OptionalDecoder<T> =>
  asOptional((value) => readable(decoder, value)[0]);

type Fields = Readonly<Record<string, Decoder<unknown>>>;
type OptionalKeys<F extends Fields> = { [K in keyof F]: F[K] extends OptionalDecoder<unknown> ? K : never }[keyof F];
type Simplified<T> = { [K in keyof T]: T[K] };
export type ObjectOf<F extends Fields> = Simplified<
  { readonly [K in Exclude<keyof F, OptionalKeys<F>>]: Decoded<F[K]> } & {
    readonly [K in OptionalKeys<F>]?: Exclude<Decoded<F[K]>, undefined>;
  }
>;

/** Exactly these fields, in this order. Unknown fields are dropped. */
export function object<F extends Fields>(fields: F): Decoder<ObjectOf<F>> {
  return (value, path) => {
    if (!isRecord(value)) return refuse(path, 'an object', describeKind(value));
    const entries = Object.entries(fields).map(([name, decoder]) => {
      const own = Object.hasOwn(value, name) ? value[name] : undefined;
      return [name, decoder(own, at(path, name))] as const;
    });
    return Object.fromEntries(entries.filter(([, decoded]) => decoded !== undefined)) as ObjectOf<F>;
  };
}

/** A union of objects, discriminated by the field `tag`. */
export function tagged<const K extends string, F extends Readonly<Record<string, Decoder<unknown>>>>(
  tag: K,
  shapes: F,
): Decoder<{ [T in keyof F & string]: Decoded<F[T]> & { readonly [Tag in K]: T } }[keyof F & string]> {
  return (value, path) => {
    if (!isRecord(value)) return refuse(path, 'an object', describeKind(value));
    const name = value[tag];
    const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (shape === undefined) {
      return refuse(at(path, tag), `one of ${Object.keys(shapes).join(', ')}`, describeKind(name));
    }
    return Object.assign({ [tag]: name }, shape(value, path)) as never;
  };
}

export const nullable =
  <T>(decoder: Decoder<T>): Decoder<T | null> =>
  (value, path) =>
    value === null ? null : decoder(value, path);

/** A missing field becomes null, so that fields can be added later. */
export const orNull = <T>(decoder: Decoder<T>): Decoder<T | null> => withDefault(nullable(decoder), null);

/** A missing field becomes this value. */
export const withDefault =
  <T, D>(decoder: Decoder<T>, value: D): Decoder<T | D> =>
  (found, path) =>
    found === undefined ? value : decoder(found, path);

/** A missing or invalid field becomes this value. */
export const withFallback =
  <T, D>(decoder: Decoder<T>, value: D): Decoder<T | D> =>
  (found) => {
    const read = decodeValue(decoder, found);
    return read.ok ? read.value : value;
  };

/** Adds a rule; `expected` appears in the message. */
export const refine =
  <T>(decoder: Decoder<T>, holds: (value: T) => boolean, expected: string): Decoder<T> =>
  (value, path) => {
    const decoded = decoder(value, path);
    return holds(decoded) ? decoded : refuse(path, expected, 'something else');
  };

/** Converts the decoded value. */
export const map =
  <T, R>(decoder: Decoder<T>, convert: (value: T) => R): Decoder<R> =>
  (value, path) =>
    convert(decoder(value, path));

/** Stores a value in an annotation, which any client can edit. */
export interface AnnotationCodec<T, Missing, Unreadable> {
  encode(this: void, value: T): string;
  /** Undefined: the annotation is missing. */
  decode(this: void, text: string | undefined): T | Missing | Unreadable;
}

export interface AnnotationOptions<T, Missing, Unreadable> {
  readonly decoder: Decoder<T>;
  readonly maxChars: number;
  /** Default: the value is written unchanged. */
  readonly toJson?: (value: NoInfer<T>) => unknown;
  /** Returned for a missing annotation. */
  readonly missing: Missing;
  /** Returned for an annotation that is too long or invalid. */
  readonly unreadable: Unreadable;
}

export function annotationCodec<T, Missing, Unreadable>(
  options: AnnotationOptions<T, Missing, Unreadable>,
): AnnotationCodec<T, Missing, Unreadable> {
  const { decoder, maxChars, toJson = (value: T): unknown => value, missing, unreadable } = options;
  return {
    encode: (value) => JSON.stringify(toJson(value)),
    decode(text) {
      if (text === undefined) return missing;
      const decoded = decode(decoder, text, { maxChars });
      return decoded.ok ? decoded.value : unreadable;
    },
  };
}

/** Stores a value in a state file. The caller reads and writes the file. */
export interface StateFileCodec<T> {
  encode(value: T): string;
  decode(contents: string | Uint8Array): Parsed<T>;
}

export interface StateFileOptions<T> {
  readonly decoder: Decoder<T>;
  readonly maxChars: number;
  /** Stored in the field `format`. Other formats are rejected: another version of the program wrote them. */
  readonly format?: number;
  readonly toJson?: (value: NoInfer<T>) => object;
}

export function stateFileCodec<T extends object>(options: StateFileOptions<T>): StateFileCodec<T> {
  const { decoder, maxChars, format, toJson = (value: T): object => value } = options;
  const checked: Decoder<T> = (value, path) => {
    if (format !== undefined) object({ format: literal(format) })(value, path);
    return decoder(value, path);
  };
  return {
    encode: (value) => JSON.stringify(format === undefined ? toJson(value) : { format, ...toJson(value) }),
    decode(contents) {
      const text = typeof contents === 'string' ? contents : new TextDecoder().decode(contents);
      return decode(checked, text, { maxChars });
    },
  };
}
