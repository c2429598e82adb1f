import type { SchemaNode } from './schema.ts';

/** Whether the value is an object, as against a list, a scalar or null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isDroppedNull = (node: SchemaNode, value: unknown): boolean => value === null && node.nullable !== true;

/** What `prepare` does, for an object that is known to be one. */
export function prepareFields(node: SchemaNode, value: Record<string, unknown>): Record<string, unknown> {
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
