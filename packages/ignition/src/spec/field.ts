// Defines a spec version as tables of fields. The parser, the merge and the translation read these tables; the
// TypeScript types are derived from them, so that the two cannot diverge.

/**
 * When a field is present.
 * - `ifset`: the spec distinguishes "absent" from "empty"; stored exactly as in the input.
 * - `nonzero`: the spec has no "absent"; an empty value ('', 0, false, {}, []) is the same as none and is dropped.
 * - `always`: the field is part of every object; if the input lacks it, it has its empty value.
 */
type Presence = 'ifset' | 'nonzero' | 'always';

export interface Scalar<T extends 'string' | 'int' | 'bool'> {
  readonly type: T;
}

/** A string with exactly this value. */
export interface Literal<V extends string> {
  readonly type: 'literal';
  readonly value: V;
}

export interface List<I extends Kind = Kind> {
  readonly type: 'list';
  readonly item: I;
}

export interface Shape<F extends Fields = Fields> {
  readonly type: 'object';
  /** The noun used by merge keys and rules: `file`, `unit`, `resource`. */
  readonly name: string;
  readonly fields: F;
  /** The same fields as a list: iterated for every object of every config. */
  readonly entries: readonly (readonly [string, Field])[];
}

export type Kind =
  | Scalar<'string'>
  | Scalar<'int'>
  | Scalar<'bool'>
  | Literal<string>
  | { readonly type: 'list'; readonly item: Kind }
  | { readonly type: 'object'; readonly name: string; readonly fields: Fields; readonly entries: Shape['entries'] };

export interface Field<K extends Kind = Kind, P extends Presence = Presence> {
  readonly kind: K;
  readonly presence: P;
}

export interface Fields {
  readonly [name: string]: Field;
}

export const string: Scalar<'string'> = { type: 'string' };
export const int: Scalar<'int'> = { type: 'int' };
export const bool: Scalar<'bool'> = { type: 'bool' };

export const literal = <V extends string>(value: V): Literal<V> => ({ type: 'literal', value });
export const list = <I extends Kind>(item: I): List<I> => ({ type: 'list', item });
export const object = <F extends Fields>(name: string, fields: F): Shape<F> => ({
  type: 'object',
  name,
  fields,
  entries: Object.entries(fields),
});

export const ifset = <K extends Kind>(kind: K): Field<K, 'ifset'> => ({ kind, presence: 'ifset' });
export const nonzero = <K extends Kind>(kind: K): Field<K, 'nonzero'> => ({ kind, presence: 'nonzero' });
export const always = <K extends Kind>(kind: K): Field<K, 'always'> => ({ kind, presence: 'always' });

/** The TypeScript type of a kind. */
export type TypeOf<K> =
  K extends Scalar<'string'>
    ? string
    : K extends Scalar<'int'>
      ? number
      : K extends Scalar<'bool'>
        ? boolean
        : K extends Literal<infer V>
          ? V
          : K extends List<infer I>
            ? TypeOf<I>[]
            : K extends Shape<infer F>
              ? ObjectOf<F>
              : never;

type AlwaysThere<F> = { [N in keyof F]: F[N] extends Field<Kind, 'always'> ? N : never }[keyof F];

type ObjectOf<F> = { [N in AlwaysThere<F>]: F[N] extends Field<infer K> ? TypeOf<K> : never } & {
  [N in Exclude<keyof F, AlwaysThere<F>>]?: F[N] extends Field<infer K> ? TypeOf<K> : never;
};

/** The empty value of a kind, as in an `always` field or for a `null` list item. */
export function getZeroValue(kind: Kind): unknown {
  switch (kind.type) {
    case 'string':
      return '';
    case 'int':
      return 0;
    case 'bool':
      return false;
    case 'literal':
      return kind.value;
    case 'list':
      return [];
    case 'object': {
      const zero: Record<string, unknown> = {};
      for (const [name, field] of kind.entries) if (field.presence === 'always') zero[name] = getZeroValue(field.kind);
      return zero;
    }
  }
}

export function isZero(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const name in value) if (Object.hasOwn(value, name)) return false;
  return true;
}
