// Imported as a namespace, so that bundles contain only the builders used here instead of all of typebox.
import * as Type from 'typebox';
import type { Static, TObject, TProperties, TSchema, TUnsafe } from 'typebox';

// The builders that kind files use. Each returns a typebox schema that is also a structural OpenAPI v3 schema
// (`nullable` instead of a union with null, `enum` instead of literals, and so on). Type, CRD and validator share it
// without translation.

/** A rule that kube-apiserver evaluates in CEL. */
export interface Rule<T = unknown> {
  rule: string;
  message: string;
  /** Path of the invalid field, relative to the rule, such as `.spec.node.name`. Default: the place of the rule. */
  fieldPath?: string;
  /** The same rule for our validator. Omitted if the rule needs the stored object, which only the server has. */
  holds?(self: T): boolean;
}

/** A schema node, as the CRD emitter and the validator traverse it. */
export interface SchemaNode {
  type?: string;
  description?: string;
  format?: string;
  enum?: readonly unknown[];
  default?: unknown;
  nullable?: boolean;
  pattern?: string;
  /** The pattern in words, after "must": users do not read regular expressions. Only for our validator. */
  expected?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  items?: SchemaNode;
  properties?: Record<string, SchemaNode>;
  required?: readonly string[];
  additionalProperties?: SchemaNode;
  anyOf?: readonly SchemaNode[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-validations'?: readonly Rule[];
  /** Fields that are usual in a free-form object, for suggestions. */
  fields?: readonly string[];
}

interface Ruled<T> {
  rules?: Rule<T>[];
}

const described = (description: string | undefined) => (description === undefined ? {} : { description });

const ruled = <T>(rules: Rule<T>[] | undefined) => (rules === undefined ? {} : { 'x-kubernetes-validations': rules });

/** Marks a property that can be omitted. */
export const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

export interface TextOptions extends Ruled<string> {
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  /** The pattern in words, after "must". */
  expected?: string;
  format?: 'date-time' | 'uri' | 'cidr';
  default?: string;
  /** The value must match one of these formats. */
  anyFormat?: string[];
}

export function text(description?: string, { rules, anyFormat, ...keywords }: TextOptions = {}) {
  const anyOf = anyFormat === undefined ? {} : { anyOf: anyFormat.map((format) => ({ format })) };
  return Type.String({ ...described(description), ...keywords, ...anyOf, ...ruled(rules) });
}

/** A point in time, RFC 3339. */
export const timestamp = (description: string) => text(description, { format: 'date-time' });

export interface ChoiceOptions<V extends string> extends Ruled<V> {
  default?: V;
  maxLength?: number;
}

/** An enumeration of strings. */
export function choice<const V extends readonly string[]>(
  values: V,
  description?: string,
  { rules, ...keywords }: ChoiceOptions<V[number]> = {},
): TUnsafe<V[number]> {
  return Type.Unsafe<V[number]>({
    type: 'string',
    ...described(description),
    enum: [...values],
    ...keywords,
    ...ruled(rules),
  });
}

export const flag = (description: string, keywords: { default?: boolean } = {}) =>
  Type.Boolean({ description, ...keywords });

export interface IntegerOptions extends Ruled<number> {
  minimum?: number;
  maximum?: number;
  format?: 'int32' | 'int64';
  default?: number;
}

export function integer(description: string, { rules, ...keywords }: IntegerOptions = {}) {
  return Type.Integer({ description, ...keywords, ...ruled(rules) });
}

export const decimal = (description: string) => Type.Number({ description, format: 'double' });

export const int32 = (description: string, options: IntegerOptions = {}) =>
  integer(description, { format: 'int32', ...options });

export const int64 = (description: string, options: IntegerOptions = {}) =>
  integer(description, { format: 'int64', ...options });

/** A count or a percentage, such as `3` or `"10%"`. */
export const intOrString = (description: string): TUnsafe<number | string> =>
  Type.Unsafe<number | string>({
    description,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  });

export interface ObjectOptions<T> extends Ruled<T> {
  minProperties?: number;
  default?: Partial<T>;
  /** Server-side apply replaces the whole object instead of merging its fields. */
  atomic?: boolean;
}

export function object<P extends TProperties>(
  description: string | undefined,
  properties: P,
  { rules, atomic, ...keywords }: ObjectOptions<Static<TObject<P>>> = {},
): TObject<P> {
  const mapType = atomic === true ? { 'x-kubernetes-map-type': 'atomic' } : {};
  return Type.Object(properties, { ...described(description), ...keywords, ...mapType, ...ruled(rules) });
}

/** String keys to string values, such as labels. */
export const stringMap = (description: string): TUnsafe<Record<string, string>> =>
  Type.Unsafe<Record<string, string>>({ type: 'object', description, additionalProperties: { type: 'string' } });

/** An object that the server stores unchanged, because another API defines its fields. */
export const freeForm = (description: string, fields: readonly string[] = []): TUnsafe<Record<string, unknown>> =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description,
    'x-kubernetes-preserve-unknown-fields': true,
    ...(fields.length > 0 && { fields }),
  });

export interface ListOptions<S extends TSchema> extends Ruled<Static<S>[]> {
  minItems?: number;
  maxItems?: number;
}

function buildListSchema<S extends TSchema>(
  description: string,
  items: S,
  listType: Record<string, unknown>,
  { rules, ...keywords }: ListOptions<S>,
) {
  return Type.Array(items, { description, ...keywords, ...listType, ...ruled(rules) });
}

/** A list that one writer owns as a whole. */
export const atomicList = <S extends TSchema>(description: string, items: S, options: ListOptions<S> = {}) =>
  buildListSchema(description, items, { 'x-kubernetes-list-type': 'atomic' }, options);

/** A list without duplicates, whose entries several writers may own. */
export const setList = <S extends TSchema>(description: string, items: S, options: ListOptions<S> = {}) =>
  buildListSchema(description, items, { 'x-kubernetes-list-type': 'set' }, options);

/** A list of objects identified by `keys`, whose entries several writers may own. */
export const listMap = <S extends TObject>(
  description: string,
  items: S,
  keys: (keyof S['properties'] & string)[],
  options: ListOptions<S> = {},
) =>
  buildListSchema(description, items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }, options);

/** Allows null, which the server then stores. (It drops any other null.) */
export const nullable = <S extends TSchema>(schema: S): TUnsafe<Static<S> | null> =>
  Type.Unsafe<Static<S> | null>({ ...schema, nullable: true });

/** CEL uses RE2 and the validator JavaScript: the pattern must use only their common syntax, and no quotes. */
export function matching(pattern: string, message: string): Rule<string> {
  const expression = new RegExp(pattern);
  return {
    rule: `self.matches('${pattern.replaceAll('\\', '\\\\')}')`,
    message,
    holds: (self) => expression.test(self),
  };
}

/** A union member is set exactly when the discriminator selects it. */
export function unionMember(discriminator: string, value: string, member: string): Rule<object> {
  return {
    rule: `has(self.${member}) == (self.${discriminator} == '${value}')`,
    message: `${member} is required when ${discriminator} is ${value}, and must be absent otherwise`,
    fieldPath: `.${member}`,
    holds: (self) => Object.hasOwn(self, member) === (Reflect.get(self, discriminator) === value),
  };
}

/** The field can be changed after it is set, but not removed. */
export const staysOnceSet = (field: string): Rule<object> => ({
  rule: `!has(oldSelf.${field}) || has(self.${field})`,
  message: `${field} cannot be removed once it is set`,
  fieldPath: `.${field}`,
});

export const immutable = (what: string): Rule<never> => ({
  rule: 'self == oldSelf',
  message: `${what} cannot be changed`,
});
