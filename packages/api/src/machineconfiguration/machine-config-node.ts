import { ageColumn, conditionColumn, type Kind, type ObjectOf, toResource, type Column } from '../kind.ts';
import { nameIn } from '../object-meta.ts';
import { int32, int64, type IntegerOptions, listMap, matching, object, optional, type Rule, text } from '../schema.ts';
import { conditions, imageByDigest, subdomain } from '../shared-fields.ts';
import { MACHINE_CONFIGURATION_GROUP } from './names.ts';

const neverDecreases = (field: string): Pick<IntegerOptions, 'minimum' | 'rules'> => ({
  minimum: 1,
  rules: [{ rule: 'self >= oldSelf', message: `${field} must not decrease` }],
});

const named = (description: string, field: string) => object(description, { name: subdomain(field) });

const spec = object('What the controllers want of the node.', {
  node: named('The node this object is about.', 'Name of the node. Must be the name of this object.'),
  pool: named('The pool the node is in.', 'Name of the MachineConfigPool.'),
  configVersion: object('The rendered MachineConfig that the node shall run.', {
    desired: subdomain('Name of the rendered MachineConfig.'),
  }),
});

interface Generations {
  currentGeneration?: number;
  desiredGeneration?: number;
  lastFailedGeneration?: number;
  lastFailedGenerationError?: string;
}

const reached = (field: 'currentGeneration' | 'lastFailedGeneration', what: string): Rule<Generations> => ({
  rule: `!has(self.${field}) || !has(self.desiredGeneration) || self.desiredGeneration >= self.${field}`,
  message: `desiredGeneration must not be less than ${what}`,
  holds: (self) => !(Number(self.desiredGeneration) < Number(self[field])),
});

const pinnedImageSet = object(
  undefined,
  {
    name: subdomain('Name of the PinnedImageSet.'),
    desiredGeneration: optional(
      int32('The generation of the set that the node works on.', neverDecreases('desiredGeneration')),
    ),
    currentGeneration: optional(
      int32('The generation of the set whose images the node holds.', neverDecreases('currentGeneration')),
    ),
    lastFailedGeneration: optional(int32('The last generation that failed.', neverDecreases('lastFailedGeneration'))),
    lastFailedGenerationError: optional(text('Why it failed.', { maxLength: 32_768 })),
  },
  {
    rules: [
      reached('currentGeneration', 'currentGeneration'),
      reached('lastFailedGeneration', 'lastFailedGeneration'),
      {
        rule: '!has(self.lastFailedGeneration) || has(self.lastFailedGenerationError)',
        message: 'lastFailedGenerationError must say why lastFailedGeneration failed',
        fieldPath: '.lastFailedGenerationError',
        holds: (self) => self.lastFailedGeneration === undefined || self.lastFailedGenerationError !== undefined,
      },
    ],
  },
);

const irreconcilableChange = object(undefined, {
  fieldPath: text('The field of the rendered MachineConfig, from spec. on.', {
    minLength: 1,
    maxLength: 70,
    rules: [
      {
        rule: "self.startsWith('spec.')",
        message: "fieldPath must begin with 'spec.'",
        holds: (self) => self.startsWith('spec.'),
      },
      matching('^[\\da-zA-Z.\\[\\]]+$', "fieldPath may hold only letters, digits, '.', '[' and ']'"),
    ],
  }),
  diff: text('What would have to change.', { minLength: 1, maxLength: 4096 }),
});

const release = object(undefined, {
  name: text('Name of the bundle: ocp-release-bundle-<version>-<architecture or stream>.', {
    minLength: 1,
    maxLength: 64,
    rules: [
      matching(
        '^ocp-release-bundle-[0-9]+\\.[0-9]+\\.[0-9]+-[A-Za-z0-9._-]+$',
        'name must be ocp-release-bundle-<x.y.z>-<architecture or stream>',
      ),
    ],
  }),
  image: optional(imageByDigest('The release image, by digest.', { localhost: true })),
  conditions: optional(
    conditions('Findings about the bundle: whether it is mounted, available, being removed.', {
      minItems: 1,
      maxItems: 5,
    }),
  ),
});

const status = object('How far the node is. The daemon on that node writes it.', {
  observedGeneration: optional(
    int64('The generation of this object that the status is for.', neverDecreases('observedGeneration')),
  ),
  conditions: optional(
    conditions(
      'The steps of an update and how far the node is in them: UpdatePrepared, UpdateExecuted, Cordoned, Drained, RebootedNode, Updated and others.',
      { maxItems: 20 },
    ),
  ),
  configVersion: optional(
    object('Which rendered MachineConfig the node runs, and which it is on the way to.', {
      current: optional(subdomain('Name of the rendered MachineConfig that the node runs.')),
      desired: subdomain('Name of the one it is on the way to. Equal to current when it has arrived.'),
    }),
  ),
  pinnedImageSets: optional(
    listMap('How far the node is with each PinnedImageSet of its pools.', pinnedImageSet, ['name'], { maxItems: 100 }),
  ),
  irreconcilableChanges: optional(
    listMap(
      'Differences between the first configuration of the machine and its pool that only a new installation could remove.',
      irreconcilableChange,
      ['fieldPath'],
      { minItems: 1, maxItems: 32 },
    ),
  ),
  internalReleaseImage: optional(
    object('Release bundles that the node serves from its own disk.', {
      releases: listMap('One entry for each bundle.', release, ['name'], { minItems: 1, maxItems: 32 }),
    }),
  ),
});

const schema = object(
  'One node on its way from one configuration to the next: what it shall run, what it runs, and each step between.',
  { spec, status: optional(status) },
  {
    rules: [
      {
        rule: 'self.metadata.name == self.spec.node.name',
        message: 'spec.node.name must be the name of the object: there is one MachineConfigNode for each node',
        fieldPath: '.spec.node.name',
        holds: (self) => nameIn(self) === self.spec.node.name,
      },
    ],
  },
);

export type MachineConfigNode = ObjectOf<typeof schema>;

const step = (condition: string, name = condition) => conditionColumn(condition, { name, priority: 1 });

const columns: Column[] = [
  { name: 'PoolName', type: 'string', jsonPath: '.spec.pool.name' },
  { name: 'DesiredConfig', type: 'string', jsonPath: '.spec.configVersion.desired' },
  { name: 'CurrentConfig', type: 'string', jsonPath: '.status.configVersion.current' },
  conditionColumn('Updated'),
  ageColumn,
  step('UpdatePrepared'),
  step('UpdateExecuted'),
  step('UpdatePostActionComplete'),
  step('UpdateComplete'),
  step('Resumed'),
  step('AppliedFilesAndOS', 'UpdatedFilesAndOS'),
  step('Cordoned', 'CordonedNode'),
  step('Drained', 'DrainedNode'),
  step('RebootedNode'),
  step('Uncordoned', 'UncordonedNode'),
];

export const machineConfigNodeKind: Kind<MachineConfigNode> = {
  group: MACHINE_CONFIGURATION_GROUP,
  kind: 'MachineConfigNode',
  plural: 'machineconfignodes',
  shortNames: ['mcn'],
  namespaced: false,
  install: 'own',
  versions: [{ name: 'v1', schema, columns, status: true }],
};

export const machineConfigNodes = toResource(machineConfigNodeKind, 'v1');
