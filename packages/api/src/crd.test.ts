import { describe, expect, it } from 'vitest';
import { Type, type TSchema } from 'typebox';
import { buildCrd, toOpenApiSchema } from './crd.ts';
import { ageColumn, formatCrdName, type Kind } from './kind.ts';
import { kinds } from './kinds.ts';
import {
  atomicList,
  choice,
  flag,
  freeForm,
  int32,
  intOrString,
  listMap,
  matching,
  unionMember,
  nullable,
  object,
  optional,
  setList,
  stringMap,
  text,
  timestamp,
  type SchemaNode,
} from './schema.ts';

describe('each schema builder emits plain OpenAPI', () => {
  it.each<[string, TSchema, SchemaNode]>([
    [
      'text',
      text('A name.', { minLength: 1, maxLength: 5, pattern: '^a', default: 'a' }),
      { type: 'string', description: 'A name.', minLength: 1, maxLength: 5, pattern: '^a', default: 'a' },
    ],
    [
      'text in one of several formats',
      text('An address.', { anyFormat: ['ipv4', 'hostname'] }),
      { type: 'string', description: 'An address.', anyOf: [{ format: 'ipv4' }, { format: 'hostname' }] },
    ],
    ['a point in time', timestamp('When.'), { type: 'string', format: 'date-time', description: 'When.' }],
    [
      'a choice',
      choice(['', 'A'], 'Which.', { default: 'A' }),
      { type: 'string', description: 'Which.', enum: ['', 'A'], default: 'A' },
    ],
    ['a flag', flag('On?', { default: false }), { type: 'boolean', description: 'On?', default: false }],
    [
      'a whole number',
      int32('How many.', { minimum: 0, maximum: 9 }),
      { type: 'integer', format: 'int32', description: 'How many.', minimum: 0, maximum: 9 },
    ],
    [
      'a count or percentage',
      intOrString('How many.'),
      {
        description: 'How many.',
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        'x-kubernetes-int-or-string': true,
      },
    ],
    [
      'a map of strings',
      stringMap('Labels.'),
      { type: 'object', description: 'Labels.', additionalProperties: { type: 'string' } },
    ],
    [
      'a free-form object',
      freeForm('A config.'),
      { type: 'object', description: 'A config.', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      'an object that requires only its mandatory fields',
      object('A thing.', { a: text(), b: optional(text()) }, { atomic: true, minProperties: 1 }),
      {
        type: 'object',
        description: 'A thing.',
        minProperties: 1,
        'x-kubernetes-map-type': 'atomic',
        required: ['a'],
        properties: { a: { type: 'string' }, b: { type: 'string' } },
      },
    ],
    ['an object without fields', object('Nothing.', {}), { type: 'object', description: 'Nothing.' }],
    [
      'a list with one owner',
      atomicList('Names.', text(), { minItems: 1, maxItems: 2 }),
      {
        type: 'array',
        description: 'Names.',
        minItems: 1,
        maxItems: 2,
        'x-kubernetes-list-type': 'atomic',
        items: { type: 'string' },
      },
    ],
    [
      'a list without duplicates',
      setList('Names.', text()),
      { type: 'array', description: 'Names.', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    ],
    [
      'a list of objects identified by a field',
      listMap('Things.', object(undefined, { name: text() }), ['name']),
      {
        type: 'array',
        description: 'Things.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
      },
    ],
    [
      'a nullable field, without a union',
      nullable(timestamp('When.')),
      { type: 'string', format: 'date-time', description: 'When.', nullable: true },
    ],
    [
      'a pattern in CEL, with escaped backslashes',
      text(undefined, { rules: [matching('^\\d+\\.', 'must begin with a number')] }),
      {
        type: 'string',
        'x-kubernetes-validations': [{ rule: "self.matches('^\\\\d+\\\\.')", message: 'must begin with a number' }],
      },
    ],
    [
      'a union, with the path of the invalid field',
      object(undefined, { type: choice(['A', 'B']), a: optional(text()) }, { rules: [unionMember('type', 'A', 'a')] }),
      {
        type: 'object',
        required: ['type'],
        properties: { type: { type: 'string', enum: ['A', 'B'] }, a: { type: 'string' } },
        'x-kubernetes-validations': [
          {
            rule: "has(self.a) == (self.type == 'A')",
            message: 'a is required when type is A, and must be absent otherwise',
            fieldPath: '.a',
          },
        ],
      },
    ],
  ])('%s', (_, schema, expected) => {
    expect(toOpenApiSchema(schema)).toStrictEqual(expected);
  });

  it('rejects keywords that a structural schema does not allow', () => {
    expect(() => toOpenApiSchema(Type.Object({ a: Type.Literal('x') }))).toThrow('"const" is not a keyword');
    expect(() => toOpenApiSchema(Type.Record(Type.String(), Type.String()))).toThrow(
      '"patternProperties" is not a keyword',
    );
  });
});

describe('a kind becomes a CRD', () => {
  const version = (name: string) => ({ name, schema: object('A thing.', { spec: optional(object('Spec.', {})) }) });
  const kind: Kind = {
    group: 'example.com',
    kind: 'BigThing',
    plural: 'bigthings',
    namespaced: true,
    install: 'own',
    versions: [version('v1')],
  };

  it('with names, scope and the common fields of every object', () => {
    expect(buildCrd(kind)).toStrictEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'bigthings.example.com' },
      spec: {
        group: 'example.com',
        names: { kind: 'BigThing', listKind: 'BigThingList', plural: 'bigthings', singular: 'bigthing' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                description: 'A thing.',
                properties: {
                  apiVersion: { type: 'string' },
                  kind: { type: 'string' },
                  metadata: { type: 'object' },
                  spec: { type: 'object', description: 'Spec.' },
                },
              },
            },
          },
        ],
      },
    });
  });

  it('with several versions: stores the first, serves all, converts nothing', () => {
    const { spec } = buildCrd({ ...kind, versions: [version('v1alpha1'), version('v1')] });
    expect(spec.conversion).toStrictEqual({ strategy: 'None' });
    expect(spec.versions.map(({ name, served, storage }) => ({ name, served, storage }))).toStrictEqual([
      { name: 'v1alpha1', served: true, storage: true },
      { name: 'v1', served: true, storage: false },
    ]);
  });

  it('with the subresources, columns and short names of the kind', () => {
    const scale = { specReplicasPath: '.a', statusReplicasPath: '.b', labelSelectorPath: '.c' };
    const { spec } = buildCrd({
      ...kind,
      namespaced: false,
      shortNames: ['bt'],
      categories: ['all-things'],
      versions: [{ ...version('v1'), status: true, scale, columns: [ageColumn] }],
    });
    expect(spec.scope).toBe('Cluster');
    expect(spec.names).toMatchObject({ shortNames: ['bt'], categories: ['all-things'] });
    expect(spec.versions[0]).toMatchObject({
      subresources: { status: {}, scale },
      additionalPrinterColumns: [ageColumn],
    });
  });
});

interface SchemaLocation {
  path: string;
  node: SchemaNode;
  /** Users write its name. */
  named: boolean;
}

function* walkSchema(node: SchemaNode, path: string, named: boolean): Generator<SchemaLocation> {
  yield { path, node, named };
  for (const [name, property] of Object.entries(node.properties ?? {}))
    yield* walkSchema(property, `${path}.${name}`, true);
  if (node.items !== undefined) yield* walkSchema(node.items, `${path}[]`, false);
}

const objectFields = new Set(['.apiVersion', '.kind', '.metadata']);

const crdVersions = kinds.flatMap((kind) =>
  buildCrd(kind).spec.versions.map((version) => ({ title: `${version.name} ${formatCrdName(kind)}`, version })),
);

describe.each(crdVersions)('$title', ({ version }) => {
  const all = [...walkSchema(version.schema.openAPIV3Schema, '', true)];
  const where = (wrong: (place: SchemaLocation) => boolean) =>
    all.filter((place) => wrong(place)).map(({ path }) => path);

  it('describes every field in a sentence', () => {
    const isUndescribed = ({ path, node, named }: SchemaLocation) =>
      named && !objectFields.has(path) && !/^[A-Z].*[.…]$/.test(node.description ?? '');
    expect(where(isUndescribed)).toStrictEqual([]);
  });

  it('is structural: every node has a type, and only nullable allows null', () => {
    const isUntyped = ({ node }: SchemaLocation) =>
      node.type === undefined && node['x-kubernetes-int-or-string'] !== true;
    expect(where(isUntyped)).toStrictEqual([]);
  });

  it('identifies list entries only by required fields', () => {
    const isLoose = ({ node }: SchemaLocation) =>
      node['x-kubernetes-list-map-keys']?.some((key) => node.items?.required?.includes(key) !== true) === true;
    expect(where(isLoose)).toStrictEqual([]);
  });

  it('has a message for every rule', () => {
    const isMute = ({ node }: SchemaLocation) =>
      node['x-kubernetes-validations']?.some(({ message }) => message.length < 10) === true;
    expect(where(isMute)).toStrictEqual([]);
  });
});

it.each(kinds)('$kind states each pattern in words, because users do not read regular expressions', ({ versions }) => {
  const patterns = versions
    .flatMap((version) => [...walkSchema(version.schema, '', true)])
    .filter(({ node }) => node.pattern !== undefined);
  const isMute = ({ expected = '' }: SchemaNode) => expected.length < 10 || /[\\^$]|\[\S/.test(expected);
  expect(patterns.filter(({ node }) => isMute(node)).map(({ path }) => path)).toStrictEqual([]);
});

it('no two kinds share a short name or a CRD', () => {
  const names = kinds.flatMap((kind) => kind.shortNames ?? []);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(kinds.map(formatCrdName)).size).toBe(kinds.length);
});
