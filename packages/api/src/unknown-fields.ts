// The fields of an object that its kind does not have. kube-apiserver refuses them with strict field validation, the
// default of kubectl, and drops them otherwise, as `validate` does.
import type { Kind } from './kind.ts';
import { objectMetaSchema } from './object-meta.ts';
import { fieldPath, isObject, itemPath } from './problem.ts';
import type { SchemaNode } from './schema.ts';

export interface UnknownField {
  /** Such as `spec.kernelArgs`. */
  path: string;
  name: string;
  /** The path of the object that contains it; '' for the object as a whole. */
  parent: string;
  /** The fields that this object can have. */
  siblings: readonly string[];
  /** The objects of this kind that have a field of this name, outermost first, such as `spec`. */
  elsewhere: readonly string[];
}

const MAX_FOUND = 50;

/** Empty for a version that the kind does not have. Fields that other APIs define (spec.config) are not judged. */
export function findUnknownFields(kind: Kind, value: unknown): UnknownField[] {
  const root = isObject(value) ? buildRootSchema(kind, value['apiVersion']) : undefined;
  if (root === undefined) return [];
  return [...findIn(root, value, '')].slice(0, MAX_FOUND).map(({ parent, name, node }) => ({
    path: fieldPath(parent, name),
    name,
    parent,
    siblings: Object.keys(node.properties ?? {}),
    elsewhere: findParents(root, name),
  }));
}

function buildRootSchema({ group, versions }: Kind, apiVersion: unknown): SchemaNode | undefined {
  const version = versions.find(({ name }) => apiVersion === `${group}/${name}`);
  if (version === undefined) return undefined;
  const text = { type: 'string' };
  const properties = { apiVersion: text, kind: text, metadata: objectMetaSchema, ...version.schema.properties };
  return { type: 'object', properties };
}

interface Place {
  parent: string;
  name: string;
  /** The schema of the parent. */
  node: SchemaNode;
}

function* findIn(node: SchemaNode, value: unknown, path: string): Generator<Place> {
  if (node['x-kubernetes-preserve-unknown-fields'] === true) return;
  const { items, properties = {}, additionalProperties } = node;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) if (items) yield* findIn(items, item, itemPath(path, index));
  } else if (isObject(value) && node.type === 'object') {
    for (const [name, field] of Object.entries(value)) {
      const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      if (schema === undefined) yield { parent: path, name, node };
      else yield* findIn(schema, field, fieldPath(path, name));
    }
  }
}

/** Users do not write the status. */
function findParents(root: SchemaNode, wanted: string): string[] {
  const found: string[] = [];
  const queue: { node: SchemaNode; path: string }[] = [{ node: root, path: '' }];
  for (const { node, path } of queue) {
    const names = [...Object.keys(node.properties ?? {}), ...(node.fields ?? [])];
    if (path !== '' && names.includes(wanted)) found.push(path);
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      const below = fieldPath(path, name);
      if (below !== 'status') queue.push({ node: property.items ?? property, path: below });
    }
  }
  return found;
}
