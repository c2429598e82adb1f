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

// Part of the API for the sake of manifests and tools. The platform fills it for nodes whose pool has a MachineOSConfig.
const IMAGE_MODE = 'Only for images that are built in the cluster. Slipway builds none and leaves it empty.';

const spec = object('Desired state of the node. The controllers write it.', {
  node: named('The node that this object describes.', 'Name of the node. Must equal the name of this object.'),
  pool: named('The pool that the node belongs to.', 'Name of the MachineConfigPool.'),
  configVersion: object('The rendered MachineConfig that the node should run.', {
    desired: subdomain('Name of the rendered MachineConfig.'),
  }),
  configImage: optional(
    object(`The image to run instead of the OS image of the rendered MachineConfig. ${IMAGE_MODE}`, {
      desiredImage: imageByDigest('Image that the node should run, by digest.'),
    }),
  ),
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
      int32('Generation of the set that the node should pin.', neverDecreases('desiredGeneration')),
    ),
    currentGeneration: optional(
      int32('Generation of the set whose images are pinned on the node.', neverDecreases('currentGeneration')),
    ),
    lastFailedGeneration: optional(
      int32('The last generation whose images could not be pinned.', neverDecreases('lastFailedGeneration')),
    ),
    lastFailedGenerationError: optional(
      text('Why lastFailedGeneration failed. Empty once the images of the set are pinned.', { maxLength: 32_768 }),
    ),
  },
  {
    rules: [
      reached('currentGeneration', 'currentGeneration'),
      reached('lastFailedGeneration', 'lastFailedGeneration'),
      {
        rule: '!has(self.lastFailedGeneration) || has(self.lastFailedGenerationError)',
        message: 'lastFailedGenerationError is required when lastFailedGeneration is set',
        fieldPath: '.lastFailedGenerationError',
        holds: (self) => self.lastFailedGeneration === undefined || self.lastFailedGenerationError !== undefined,
      },
    ],
  },
);

const irreconcilableChange = object(undefined, {
  fieldPath: text('Path of the field in the rendered MachineConfig. Starts with spec.', {
    minLength: 1,
    maxLength: 70,
    rules: [
      {
        rule: "self.startsWith('spec.')",
        message: "fieldPath must start with 'spec.'",
        holds: (self) => self.startsWith('spec.'),
      },
      matching('^[\\da-zA-Z.\\[\\]]+$', "fieldPath may contain only letters, digits, '.', '[' and ']'"),
    ],
  }),
  diff: text('Difference between the installed value and the value in the pool.', { minLength: 1, maxLength: 4096 }),
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
    conditions('Conditions of the bundle, such as mounted, available or being removed.', {
      minItems: 1,
      maxItems: 5,
    }),
  ),
});

const status = object('Observed state of the node. The daemon on the node writes it.', {
  observedGeneration: optional(
    int64('The metadata.generation that this status reflects.', neverDecreases('observedGeneration')),
  ),
  conditions: optional(
    conditions(
      'Progress of the update, one condition per step: UpdatePrepared, UpdateExecuted, Cordoned, Drained, RebootedNode, Updated and others.',
      { maxItems: 20 },
    ),
  ),
  configVersion: optional(
    object('The rendered MachineConfig that the node runs, and the one that it is updating to.', {
      current: optional(subdomain('Name of the rendered MachineConfig that the node runs.')),
      desired: subdomain(
        'Name of the rendered MachineConfig that the node is updating to. Equals current when the update is complete.',
      ),
    }),
  ),
  configImage: optional(
    object(
      `The image that the node runs, and the one that it is updating to. ${IMAGE_MODE}`,
      {
        currentImage: optional(imageByDigest('Image that the node runs, by digest.')),
        desiredImage: optional(imageByDigest('Image that the node is updating to, by digest.')),
      },
      { minProperties: 1 },
    ),
  ),
  pinnedImageSets: optional(
    listMap('Progress with each PinnedImageSet of the pools of the node.', pinnedImageSet, ['name'], { maxItems: 100 }),
  ),
  irreconcilableChanges: optional(
    listMap(
      'Differences between the first-boot configuration of the machine and its pool that only a reinstallation can resolve.',
      irreconcilableChange,
      ['fieldPath'],
      { minItems: 1, maxItems: 32 },
    ),
  ),
  internalReleaseImage: optional(
    object('Release bundles that the node serves from its local disk.', {
      releases: listMap('One entry per bundle.', release, ['name'], { minItems: 1, maxItems: 32 }),
    }),
  ),
});

const schema = object(
  'Progress of one node from its current configuration to the desired one, step by step.',
  { spec, status: optional(status) },
  {
    rules: [
      {
        rule: 'self.metadata.name == self.spec.node.name',
        message: 'spec.node.name must equal metadata.name: each node has one MachineConfigNode with its name',
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
