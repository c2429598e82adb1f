// An object from outside: what is wrong with it, or what kube-apiserver would make of it.
import type { Kind } from './kind.ts';
import type { SchemaNode } from './schema.ts';

/** Something in an object that its schema does not allow. */
export interface Problem {
  /** Where, as users write it: `spec.pinnedImages[0].name`. Empty for the object as a whole. */
  path: string;
  /** What was expected and what was found. */
  message: string;
}

export type Validated<T> = { ok: true; object: T } | { ok: false; problems: Problem[] };

/**
 * Says what is wrong with an object of a kind, or gives it typed and as kube-apiserver would store it: unknown fields
 * dropped, defaults filled in. Never throws. Rules that compare with the stored object are left to the server, as is
 * metadata beside the name.
 */
export function validate<T>(kind: Kind<T>, value: unknown): Validated<T> {
  if (!isObject(value)) return failed('', `must be an object of kind ${kind.kind}, not ${show(value)}`);
  const { apiVersion, kind: _, metadata, ...fields } = value;
  const version = kind.versions.find(({ name }) => apiVersion === `${kind.group}/${name}`);
  if (version === undefined) {
    const known = kind.versions.map(({ name }) => `${kind.group}/${name}`).join(' or ');
    return failed('apiVersion', `must be ${known}, not ${show(apiVersion)}`);
  }
  const header = headerProblem(kind, value);
  const object = { apiVersion, kind: kind.kind, metadata, ...prepareFields(version.schema, fields) };
  const problems = [...(header === undefined ? [] : [header]), ...collectProblems(version.schema, object)];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, object: object as T };
}

const failed = (path: string, message: string): { ok: false; problems: Problem[] } => ({
  ok: false,
  problems: [{ path, message }],
});

function headerProblem(kind: Kind, value: Record<string, unknown>): Problem | undefined {
  if (value['kind'] !== kind.kind) {
    return { path: 'kind', message: `must be ${kind.kind}, not ${show(value['kind'])}` };
  }
  const name = isObject(value['metadata']) ? value['metadata']['name'] : undefined;
  if (typeof name !== 'string' || name === '') {
    return { path: 'metadata.name', message: `must be the name of the object, not ${show(name)}` };
  }
  return undefined;
}

/** Whether the value is an object, as against a list, a scalar or null. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isDroppedNull = (node: SchemaNode, value: unknown): boolean => value === null && node.nullable !== true;

/** What `prepare` does, for an object that is known to be one. */
function prepareFields(node: SchemaNode, value: Record<string, unknown>): Record<string, unknown> {
  const { properties = {}, additionalProperties } = node;
  const entries: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (schema !== undefined && !isDroppedNull(schema, field)) entries.push([name, prepare(schema, field)]);
  }
  const given = new Set(entries.map(([name]) => name));
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.default !== undefined && !given.has(name)) {
      entries.push([name, prepare(schema, structuredClone(schema.default))]);
    }
  }
  // From entries, so that a field named __proto__ is a field like any other.
  return Object.fromEntries(entries);
}

/**
 * The value as kube-apiserver would store it: fields that the schema does not know and nulls that it does not allow are
 * dropped, then defaults are filled in. What does not fit the schema stays as it is, for the check to find.
 */
function prepare(node: SchemaNode, value: unknown): unknown {
  if (node['x-kubernetes-preserve-unknown-fields'] === true) return value;
  if (Array.isArray(value)) {
    const { items } = node;
    return items === undefined ? value : value.map((item) => prepare(items, item));
  }
  return node.type === 'object' && isObject(value) ? prepareFields(node, value) : value;
}

/** Everything in a prepared value that its schema does not allow, but for rules that need the stored object. */
function collectProblems(schema: SchemaNode, value: unknown): Problem[] {
  const problems = new Problems();
  check(schema, value, '', problems);
  return problems.found;
}

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
    problems.add(path, `must have at least ${minProperties} of its fields set`);
  }
  for (const name of required) {
    if (!Object.hasOwn(value, name)) problems.add(fieldPath(path, name), 'is required');
  }
  for (const [name, field] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (schema !== undefined) check(schema, field, fieldPath(path, name), problems);
  }
}

/** What an entry is told apart by, or nothing where entries may be alike. */
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
    if (seen.has(key)) problems.add(itemPath(path, index), `is there twice: ${identity.map(show).join(', ')}`);
    seen.add(key);
  }
}

const rulePath = (path: string, fieldPath = ''): string => (path === '' ? fieldPath.slice(1) : `${path}${fieldPath}`);

/** Rules are asked only about values that fit the schema, so that they can trust its types. */
function checkRules(node: SchemaNode, value: unknown, path: string, problems: Problems): void {
  for (const rule of node['x-kubernetes-validations'] ?? []) {
    if (rule.holds?.(value) === false) problems.add(rulePath(path, rule.fieldPath), rule.message);
  }
}

function check(node: SchemaNode, value: unknown, path: string, problems: Problems): void {
  if (value === null && node.nullable === true) return;
  const before = problems.found.length;
  const type = findType(node);
  if (type !== undefined && !type.holds(value)) {
    problems.add(path, `must be ${type.expected}, not ${show(value)}`);
    return;
  }
  for (const expected of brokenLimits(node, value)) problems.add(path, `must ${expected}, not ${show(value)}`);
  if (Array.isArray(value)) checkItems(node, value, path, problems);
  else if (isObject(value)) checkFields(node, value, path, problems);
  if (problems.found.length === before) checkRules(node, value, path, problems);
}

/** What the value should have been, or nothing if it is. */
type Limit = (node: SchemaNode, value: unknown) => string | undefined;

const DATE_TIME_PATTERN = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

// The formats whose meaning needs no library; the server checks the others as well.
const formats: Record<string, { expected: string; holds: (value: unknown) => boolean }> = {
  'date-time': {
    expected: 'be a time such as 2026-01-31T12:00:00Z',
    holds: (value) => typeof value === 'string' && DATE_TIME_PATTERN.test(value) && !Number.isNaN(Date.parse(value)),
  },
  int32: {
    expected: 'be a whole number of 32 bits',
    holds: (value) => typeof value === 'number' && value >= -(2 ** 31) && value < 2 ** 31,
  },
  uri: { expected: 'be an absolute URL', holds: (value) => typeof value === 'string' && URL.canParse(value) },
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

function expectedRange(what: string, min: number | undefined, max: number | undefined): string {
  if (min === undefined) return `${what} at most ${max}`;
  return max === undefined ? `${what} at least ${min}` : `${what} from ${min} to ${max}`;
}

const choices: Limit = (node, value) =>
  node.enum === undefined || node.enum.includes(value)
    ? undefined
    : `be one of ${node.enum.map((choice) => show(choice)).join(', ')}`;

const format: Limit = (node, value) => {
  const known = formats[node.format ?? ''];
  return known === undefined || known.holds(value) ? undefined : known.expected;
};

const length: Limit = ({ minLength, maxLength }, value) =>
  typeof value === 'string' && isOutside(countCodePoints(value), minLength, maxLength)
    ? expectedRange('have a length of', minLength, maxLength)
    : undefined;

const pattern: Limit = ({ pattern: source, maxLength = Infinity }, value) => {
  // What is too long is said already, and is not worth the time.
  if (source === undefined || typeof value !== 'string' || value.length > maxLength * 2) return undefined;
  return compilePattern(source).test(value) ? undefined : `match the pattern ${source}`;
};

const range: Limit = ({ minimum, maximum }, value) =>
  typeof value === 'number' && isOutside(value, minimum, maximum) ? expectedRange('be', minimum, maximum) : undefined;

const items: Limit = ({ minItems, maxItems }, value) =>
  Array.isArray(value) && isOutside(value.length, minItems, maxItems)
    ? expectedRange('have a number of entries of', minItems, maxItems)
    : undefined;

const limits: readonly Limit[] = [choices, format, length, pattern, range, items];

/** What the value should have been, by the limits of its own node. */
const brokenLimits = (node: SchemaNode, value: unknown): string[] =>
  limits.flatMap((limit) => limit(node, value) ?? []);

// The object comes from outside, and more than this helps nobody.
const MAX_PROBLEMS = 50;
const MAX_SHOWN = 80;

/** Collects problems, up to a limit. */
class Problems {
  readonly found: Problem[] = [];

  add(path: string, message: string): void {
    if (this.found.length < MAX_PROBLEMS) this.found.push({ path, message });
  }
}

/** A value as it can be shown to people: short, and never the inside of an object. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const shown = JSON.stringify(value) ?? 'nothing';
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
}

const PLAIN_NAME = /^[A-Za-z_][\w-]*$/;

function fieldPath(path: string, name: string): string {
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

const itemPath = (path: string, index: number): string => `${path}[${index}]`;
