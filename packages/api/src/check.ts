import { brokenLimits } from './limits.ts';
import { isObject } from './prepare.ts';
import { fieldPath, itemPath, Problems, show, type Problem } from './problem.ts';
import type { SchemaNode } from './schema.ts';

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

const typeOf = (node: SchemaNode) =>
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
function identityOf(node: SchemaNode, item: unknown): unknown[] | undefined {
  if (node['x-kubernetes-list-type'] === 'set') return [item];
  return node['x-kubernetes-list-map-keys']?.map((key) => (isObject(item) ? item[key] : undefined));
}

function checkItems(node: SchemaNode, value: readonly unknown[], path: string, problems: Problems): void {
  const { items } = node;
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    if (items !== undefined) check(items, item, itemPath(path, index), problems);
    const identity = identityOf(node, item);
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
  const type = typeOf(node);
  if (type !== undefined && !type.holds(value)) {
    problems.add(path, `must be ${type.expected}, not ${show(value)}`);
    return;
  }
  for (const expected of brokenLimits(node, value)) problems.add(path, `must ${expected}, not ${show(value)}`);
  if (Array.isArray(value)) checkItems(node, value, path, problems);
  else if (isObject(value)) checkFields(node, value, path, problems);
  if (problems.found.length === before) checkRules(node, value, path, problems);
}

/** Everything in a prepared value that its schema does not allow, but for rules that need the stored object. */
export function problemsOf(schema: SchemaNode, value: unknown): Problem[] {
  const problems = new Problems();
  check(schema, value, '', problems);
  return problems.found;
}
