import { formatCrdName, type Column, type Kind, type KindVersion } from './kind.ts';
import type { Rule, SchemaNode } from './schema.ts';

export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string };
  spec: {
    group: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames?: string[];
      categories?: string[];
    };
    scope: 'Cluster' | 'Namespaced';
    conversion?: { strategy: 'None' };
    versions: CrdVersion[];
  };
}

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  additionalPrinterColumns?: Column[];
  subresources?: { status?: Record<string, never>; scale?: KindVersion['scale'] };
  schema: { openAPIV3Schema: SchemaNode };
}

// Copied unchanged. Any other keyword is a mistake in a kind file: the server would reject it or, worse, ignore it.
const plainKeywords: ReadonlySet<string> = new Set([
  'description',
  'type',
  'format',
  'enum',
  'default',
  'nullable',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
]);

function refuseForeignKeywords(node: SchemaNode): void {
  const foreign = Object.keys(node).find((keyword) => !plainKeywords.has(keyword));
  if (foreign !== undefined) {
    throw new TypeError(`"${foreign}" is not a keyword of a structural schema (at "${node.description ?? node.type}")`);
  }
}

const toServerRule = ({ rule, message, fieldPath }: Rule): Rule => ({
  rule,
  message,
  ...(fieldPath !== undefined && { fieldPath }),
});

/** The schema as structural OpenAPI v3, without what only TypeScript or the validator uses. */
export function toOpenApiSchema(node: SchemaNode): SchemaNode {
  const {
    required,
    properties,
    additionalProperties,
    items,
    anyOf,
    'x-kubernetes-validations': rules,
    ...others
  } = node;
  const { expected: _, fields: __, ...rest } = others;
  refuseForeignKeywords(rest);
  return {
    ...rest,
    ...(required !== undefined && required.length > 0 && { required: [...required] }),
    ...(properties !== undefined && Object.keys(properties).length > 0 && { properties: toOpenApiSchemas(properties) }),
    ...(additionalProperties && { additionalProperties: toOpenApiSchema(additionalProperties) }),
    ...(items && { items: toOpenApiSchema(items) }),
    ...(anyOf && { anyOf: anyOf.map(toOpenApiSchema) }),
    ...(rules && { 'x-kubernetes-validations': rules.map(toServerRule) }),
  };
}

const toOpenApiSchemas = (schemas: Record<string, SchemaNode>): Record<string, SchemaNode> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toOpenApiSchema(schema)]));

function buildRootSchema(version: KindVersion): SchemaNode {
  const { properties, ...root } = toOpenApiSchema(version.schema);
  return {
    ...root,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...properties,
    },
  };
}

function buildSubresources({ status, scale }: KindVersion): Pick<CrdVersion, 'subresources'> {
  if (status !== true && scale === undefined) return {};
  return { subresources: { ...(status === true && { status: {} }), ...(scale && { scale }) } };
}

const buildCrdVersion = (version: KindVersion, storage: boolean): CrdVersion => ({
  name: version.name,
  served: true,
  storage,
  ...(version.columns && { additionalPrinterColumns: version.columns }),
  ...buildSubresources(version),
  schema: { openAPIV3Schema: buildRootSchema(version) },
});

export function buildCrd(kind: Kind): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: formatCrdName(kind) },
    spec: {
      group: kind.group,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        ...(kind.shortNames && { shortNames: kind.shortNames }),
        ...(kind.categories && { categories: kind.categories }),
      },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      ...(kind.versions.length > 1 && { conversion: { strategy: 'None' as const } }),
      versions: kind.versions.map((version, index) => buildCrdVersion(version, index === 0)),
    },
  };
}
