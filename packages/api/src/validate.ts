// Validates untrusted objects and prepares them as kube-apiserver would store them.
import type { Kind } from './kind.ts';
import { objectMetaSchema } from './object-meta.ts';
import { fieldPath, isObject, itemPath, type Problem, Problems, quotingHint, show, showFound } from './problem.ts';
import type { SchemaNode } from './schema.ts';

export type Validated<T> = { ok: true; object: T } | { ok: false; problems: Problem[] };

/**
 * Returns the problems of an object, or the typed object as kube-apiserver would store it: unknown fields dropped,
 * defaults filled in. Never throws. Does not check metadata other than the name, nor rules that compare with the stored
 * object: the server does.
 */
export function validate<T>(kind: Kind<T>, value: unknown): Validated<T> {
  if (!isObject(value)) return failed('', `must be an object of kind ${kind.kind}, ${showFound(value)}`);
  const { apiVersion, kind: _, metadata, ...fields } = value;
  const version = kind.versions.find(({ name }) => apiVersion === `${kind.group}/${name}`);
  if (version === undefined) {
    const known = kind.versions.map(({ name }) => `${kind.group}/${name}`).join(' or ');
    return failed('apiVersion', `must be ${known}, ${showFound(apiVersion)}`);
  }
  const header = headerProblem(kind, value);
  const prepared = { metadata: prepare(objectMetaSchema, metadata), ...prepareFields(version.schema, fields) };
  const object = { apiVersion, kind: kind.kind, ...prepared };
  const problems = [...(header === undefined ? [] : [header]), ...collectProblems(version.schema, object)];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, object: object as T };
}

const failed = (path: string, message: string): { ok: false; problems: Problem[] } => ({
  ok: false,
  problems: [{ path, message }],
});

function headerProblem(kind: Kind, value: Record<string, unknown>): Problem | undefined {
  if (value['kind'] !== kind.kind) {
    return { path: 'kind', message: `must be ${kind.kind}, ${showFound(value['kind'])}` };
  }
  const name = isObject(value['metadata']) ? value['metadata']['name'] : undefined;
  if (name === undefined) return { path: 'metadata.name', message: 'is required' };
  if (typeof name === 'string' && name !== '') return undefined;
  return {
    path: 'metadata.name',
    message: `must be a non-empty string, ${showFound(name)}${quotingHint('a string', name)}`,
  };
}

const isDroppedNull = (node: SchemaNode, value: unknown): boolean => value === null && node.nullable !== true;

/** `prepare` for an object. */
function prepareFields(node: SchemaNode, value: Record<string, unknown>): Record<string, unknown> {
  const { properties = {}, additionalProperties } = node;
  const entries: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (schema === undefined) continue;
    if (!isDroppedNull(schema, field)) entries.push([name, prepare(schema, field)]);
    else if (schema === additionalProperties && schema.default !== undefined) entries.push([name, schema.default]);
  }
  const given = new Set(entries.map(([name]) => name));
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.default !== undefined && !given.has(name)) {
      entries.push([name, prepare(schema, structuredClone(schema.default))]);
    }
  }
  // Built from entries, so that a field named __proto__ is an ordinary field.
  return Object.fromEntries(entries);
}

/**
 * The value as kube-apiserver would store it: unknown fields and nulls that are not allowed are dropped, then defaults
 * are filled in. Invalid values stay unchanged, so that the check reports them.
 */
function prepare(node: SchemaNode, value: unknown): unknown {
  if (node['x-kubernetes-preserve-unknown-fields'] === true) return value;
  if (Array.isArray(value)) {
    const { items } = node;
    return items === undefined ? value : value.map((item) => prepare(items, item));
  }
  return node.type === 'object' && isObject(value) ? prepareFields(node, value) : value;
}

/** All problems of a prepared value, except for rules that need the stored object. */
function collectProblems(schema: SchemaNode, value: unknown, path = ''): Problem[] {
  const problems = new Problems();
  check(schema, value, path, problems);
  return [...problems.found];
}

/** The problems of a value that is stored at this path. */
export const checkSchema = (schema: SchemaNode, value: unknown, path: string): Problem[] =>
  collectProblems(schema, prepare(schema, value), path);

const types: Record<string, { expected: string; holds: (value: unknown) => boolean }> = {
  string: { expected: 'a string', holds: (value) => typeof value === 'string' },
  boolean: { expected: 'true or false', holds: (value) => typeof value === 'boolean' },
  integer: { expected: 'a whole number', holds: Number.isInteger },
  number: { expected: 'a number', holds: Number.isFinite },
  array: { expected: 'a list', holds: Array.isArray },
  object: { expected: 'an object', holds: isObject },
};

const intOrString = {
  expected: 'a whole number or a string',
  holds: (value: unknown) => Number.isInteger(value) || typeof value === 'string',
};

const findType = (node: SchemaNode) =>
  node['x-kubernetes-int-or-string'] === true ? intOrString : types[node.type ?? ''];

function checkFields(node: SchemaNode, value: Record<string, unknown>, path: string, problems: Problems): void {
  const { properties = {}, additionalProperties, required = [], minProperties = 0 } = node;
  if (Object.keys(value).length < minProperties) {
    problems.add(
      path,
      `must have ${formatCount(minProperties, undefined, 'field', 'fields')}, has ${Object.keys(value).length}`,
    );
  }
  for (const name of required) {
    if (!Object.hasOwn(value, name)) problems.add(fieldPath(path, name), 'is required');
  }
  for (const [name, field] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (schema !== undefined) check(schema, field, fieldPath(path, name), problems);
  }
}

/** The key that must be unique among the entries. Undefined if duplicates are allowed. */
function readItemKey(node: SchemaNode, item: unknown): unknown[] | undefined {
  if (node['x-kubernetes-list-type'] === 'set') return [item];
  return node['x-kubernetes-list-map-keys']?.map((key) => (isObject(item) ? item[key] : undefined));
}

function checkItems(node: SchemaNode, value: readonly unknown[], path: string, problems: Problems): void {
  const { items } = node;
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    if (items !== undefined) check(items, item, itemPath(path, index), problems);
    const identity = readItemKey(node, item);
    if (identity === undefined) continue;
    const key = JSON.stringify(identity);
    if (seen.has(key))
      problems.add(itemPath(path, index), `repeats an earlier entry: ${identity.map(show).join(', ')}; keep one`);
    seen.add(key);
  }
}

const rulePath = (path: string, fieldPath = ''): string => (path === '' ? fieldPath.slice(1) : `${path}${fieldPath}`);

/** Rules run only on values that match the schema, so that they can trust its types. */
function checkRules(node: SchemaNode, value: unknown, path: string, problems: Problems): void {
  // A value that breaks two rules mostly has one mistake.
  const fields = new Set<string>();
  for (const rule of node['x-kubernetes-validations'] ?? []) {
    const field = rulePath(path, rule.fieldPath);
    if (fields.has(field) || rule.holds?.(value) !== false) continue;
    fields.add(field);
    problems.add(field, rule.message);
  }
}

function check(node: SchemaNode, value: unknown, path: string, problems: Problems): void {
  if (value === null && node.nullable === true) return;
  const before = problems.found.length;
  const type = findType(node);
  if (type !== undefined && !type.holds(value)) {
    problems.add(path, `must be ${type.expected}, ${showFound(value)}${quotingHint(type.expected, value)}`);
    return;
  }
  for (const message of findBrokenLimits(node, value)) problems.add(path, message);
  if (Array.isArray(value)) checkItems(node, value, path, problems);
  else if (isObject(value)) checkFields(node, value, path, problems);
  if (problems.found.length === before) checkRules(node, value, path, problems);
}

/** The problem with the value, or undefined if it is within the limit. */
type Limit = (node: SchemaNode, value: unknown) => string | undefined;

const DATE_TIME_PATTERN = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

// The formats that need no library. Only the server checks the others.
const formats: Record<string, { expected: string; holds: (value: unknown) => boolean }> = {
  'date-time': {
    expected: 'a time such as 2026-01-31T12:00:00Z',
    holds: (value) => typeof value === 'string' && DATE_TIME_PATTERN.test(value) && !Number.isNaN(Date.parse(value)),
  },
  int32: {
    expected: 'a 32-bit integer',
    holds: (value) => typeof value === 'number' && value >= -(2 ** 31) && value < 2 ** 31,
  },
  uri: { expected: 'an absolute URL', holds: (value) => typeof value === 'string' && URL.canParse(value) },
};

const patterns = new Map<string, RegExp>();

function compilePattern(source: string): RegExp {
  const pattern = patterns.get(source) ?? new RegExp(source);
  patterns.set(source, pattern);
  return pattern;
}

// kube-apiserver counts code points, not UTF-16 units.
const countCodePoints = (value: string): number => Array.from(value).length;

const isOutside = (size: number, min: number | undefined, max: number | undefined): boolean =>
  (min !== undefined && size < min) || (max !== undefined && size > max);

function formatRange(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return `at most ${max}`;
  if (max === undefined) return `at least ${min}`;
  return min === max ? `exactly ${min}` : `${min} to ${max}`;
}

const formatCount = (min: number | undefined, max: number | undefined, one: string, many: string): string =>
  `${formatRange(min, max)} ${(max ?? min) === 1 ? one : many}`;

const choices: Limit = (node, value) =>
  node.enum === undefined || node.enum.includes(value)
    ? undefined
    : `must be one of ${node.enum.map((choice) => show(choice)).join(', ')}, ${showFound(value)}`;

const format: Limit = (node, value) => {
  const known = formats[node.format ?? ''];
  return known === undefined || known.holds(value) ? undefined : `must be ${known.expected}, ${showFound(value)}`;
};

const length: Limit = ({ minLength, maxLength }, value) => {
  if (typeof value !== 'string') return undefined;
  const size = countCodePoints(value);
  if (!isOutside(size, minLength, maxLength)) return undefined;
  if (size === 0) return `must not be empty${maxLength === undefined ? '' : ` (at most ${maxLength} characters)`}`;
  return `must have ${formatCount(minLength, maxLength, 'character', 'characters')}, has ${size}`;
};

const pattern: Limit = ({ pattern: source, expected = 'have another form', maxLength = Infinity }, value) => {
  // Too long is already a problem, and matching could be slow.
  if (source === undefined || typeof value !== 'string' || value.length > maxLength * 2) return undefined;
  return compilePattern(source).test(value) ? undefined : `must ${expected}, ${showFound(value)}`;
};

const range: Limit = ({ minimum, maximum }, value) =>
  typeof value === 'number' && isOutside(value, minimum, maximum)
    ? `must be ${formatRange(minimum, maximum)}, ${showFound(value)}`
    : undefined;

const items: Limit = ({ minItems, maxItems }, value) =>
  Array.isArray(value) && isOutside(value.length, minItems, maxItems)
    ? `must have ${formatCount(minItems, maxItems, 'entry', 'entries')}, has ${value.length}`
    : undefined;

const limits: readonly Limit[] = [choices, format, length, pattern, range, items];

const findBrokenLimits = (node: SchemaNode, value: unknown): string[] =>
  limits.flatMap((limit) => limit(node, value) ?? []);
