import { ageColumn, type Column, conditionColumn, type Kind, type ObjectOf, toResource } from '../kind.ts';
import {
  atomicList,
  choice,
  flag,
  int32,
  int64,
  intOrString,
  listMap,
  nullable,
  object,
  optional,
  type Rule,
  text,
  timestamp,
} from '../schema.ts';
import { labelSelector, objectReference, objectReferenceFields, subdomain } from '../shared-fields.ts';
import { MACHINE_CONFIGURATION_GROUP } from './names.ts';

const HOST_LABEL = '([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\\-]{0,61}[a-zA-Z0-9])';

const renderedConfig = (description: string) =>
  object(
    description,
    {
      ...objectReferenceFields,
      source: optional(
        atomicList('The MachineConfigs it was merged from, in the order of the merge.', objectReference()),
      ),
    },
    { atomic: true },
  );

const osImageStream = (description: string) =>
  object(description, {
    name: subdomain('Name of the stream, as in the availableStreams of the OSImageStream "cluster".', { minLength: 1 }),
  });

// Spelled out, since kubectl explain shows each of them.
const machineCounts = {
  machineCount: 'Machines of the pool.',
  updatedMachineCount: 'Machines that have the target.',
  readyMachineCount: 'Machines that have the target and are ready.',
  availableMachineCount: 'Machines that work, whether or not they have the target yet.',
  unavailableMachineCount: 'Machines that do not work at present.',
} as const;

type MachineCount = keyof typeof machineCounts;

const synchronizerCount = (count: MachineCount) => int64(machineCounts[count], { minimum: 0 });

const atLeast = (greater: MachineCount, smaller: MachineCount): Rule<Record<MachineCount, number>> => ({
  rule: `self.${greater} >= self.${smaller}`,
  message: `${greater} must not be less than ${smaller}`,
  holds: (self) => self[greater] >= self[smaller],
});

const poolSynchronizer = object(
  undefined,
  {
    poolSynchronizerType: choice(['PinnedImageSets'], 'What is being brought to the machines.', { maxLength: 256 }),
    machineCount: synchronizerCount('machineCount'),
    updatedMachineCount: synchronizerCount('updatedMachineCount'),
    readyMachineCount: synchronizerCount('readyMachineCount'),
    availableMachineCount: synchronizerCount('availableMachineCount'),
    unavailableMachineCount: synchronizerCount('unavailableMachineCount'),
    observedGeneration: optional(
      int64('The generation of the pool that the counts are for.', {
        minimum: 0,
        rules: [
          {
            rule: 'self >= oldSelf || self == 0',
            message: 'observedGeneration must not decrease, except to zero',
          },
        ],
      }),
    ),
  },
  {
    rules: [
      atLeast('machineCount', 'updatedMachineCount'),
      atLeast('machineCount', 'availableMachineCount'),
      atLeast('machineCount', 'unavailableMachineCount'),
      atLeast('machineCount', 'readyMachineCount'),
      atLeast('availableMachineCount', 'readyMachineCount'),
    ],
  },
);

const spec = object('What the pool wants of its machines.', {
  machineConfigSelector: optional(
    labelSelector(
      'Which MachineConfigs make up the configuration of the pool, by their labels. A custom pool selects the role worker and its own.',
    ),
  ),
  nodeSelector: optional(
    labelSelector(
      'Which nodes are in the pool, by their labels. A custom pool takes a node away from the pool worker.',
    ),
  ),
  paused: optional(
    flag(
      'Stop giving machines a new target. Those already on the way finish. Updates and security fixes wait meanwhile, so do not leave it on.',
    ),
  ),
  maxUnavailable: optional(
    intOrString(
      'How many machines may be out of service at once during an update: a number, or a percentage of the pool, rounded down but at least 1. Default 1. Machines that have failed count.',
    ),
  ),
  osImageStream: optional(
    osImageStream(
      'The OS the machines run, by the name of a stream. Left out, the pool stays on the stream it is on, whatever the cluster default becomes.',
    ),
  ),
  pinnedImageSets: optional(
    listMap(
      'The PinnedImageSets whose images every machine of the pool shall hold. Sets that match the pool by label are added by the controller.',
      object(undefined, {
        name: text('Name of the PinnedImageSet.', {
          minLength: 1,
          maxLength: 253,
          pattern: `^${HOST_LABEL}(\\.${HOST_LABEL})*$`,
        }),
      }),
      ['name'],
      { maxItems: 100 },
    ),
  ),
  configuration: optional(
    renderedConfig('The rendered MachineConfig the machines shall run. The controller writes it; do not edit it.'),
  ),
});

const poolCondition = object(undefined, {
  type: optional(text('What the condition is about: Updated, Updating, Degraded and so on.')),
  status: optional(text('Whether the condition holds: True, False or Unknown.')),
  reason: optional(text('Why, in one word that programs may rely on.')),
  message: optional(text('Why, in a sentence for people.')),
  lastTransitionTime: optional(nullable(timestamp('When the status last changed.'))),
});

const status = object('How far the machines are.', {
  observedGeneration: optional(int64('The generation of the pool that the status is for.')),
  configuration: optional(renderedConfig('The rendered MachineConfig that the updated machines run.')),
  machineCount: optional(int32('Machines in the pool.')),
  updatedMachineCount: optional(int32('Machines that run the rendered MachineConfig of spec.configuration.')),
  readyMachineCount: optional(int32('Machines that run it and whose node is ready.')),
  unavailableMachineCount: optional(int32('Machines that are out of service: being updated, not ready or cordoned.')),
  degradedMachineCount: optional(int32('Machines that could not apply their configuration and wait for somebody.')),
  conditions: optional(atomicList('Findings about the pool: Updated, Updating, Degraded and others.', poolCondition)),
  certExpirys: optional(
    atomicList(
      'When the certificates that machines hold run out.',
      object(undefined, {
        bundle: text('The bundle the certificate is in.'),
        subject: text('Whom the certificate is for.'),
        expiry: optional(timestamp('When it runs out.')),
      }),
    ),
  ),
  poolSynchronizersStatus: optional(
    listMap(
      'How far the machines are with what comes to them beside the rendered MachineConfig, such as pinned images.',
      poolSynchronizer,
      ['poolSynchronizerType'],
    ),
  ),
  osImageStream: optional(osImageStream('The stream every machine of the pool runs. Set once the last one does.')),
});

const schema = object('A set of machines that share one configuration and are updated together, a few at a time.', {
  spec,
  status: optional(status),
});

export type MachineConfigPool = ObjectOf<typeof schema>;

const countColumn = (name: string, description: string): Column => ({
  name,
  type: 'number',
  jsonPath: `.status.${name.charAt(0).toLowerCase()}${name.slice(1)}`,
  description,
});

const columns: Column[] = [
  { name: 'Config', type: 'string', jsonPath: '.status.configuration.name' },
  conditionColumn('Updated', { description: 'Every machine runs the newest configuration.' }),
  conditionColumn('Updating', { description: 'Some machines are on the way to it.' }),
  conditionColumn('Degraded', { description: 'Something has stopped; see the conditions for what to do.' }),
  countColumn('MachineCount', 'Machines in the pool.'),
  countColumn('ReadyMachineCount', 'Machines up to date and ready.'),
  countColumn('UpdatedMachineCount', 'Machines up to date.'),
  countColumn('DegradedMachineCount', 'Machines that could not apply their configuration.'),
  ageColumn,
];

export const machineConfigPoolKind: Kind<MachineConfigPool> = {
  group: MACHINE_CONFIGURATION_GROUP,
  kind: 'MachineConfigPool',
  plural: 'machineconfigpools',
  shortNames: ['mcp'],
  namespaced: false,
  install: 'own',
  versions: [{ name: 'v1', schema, columns, status: true }],
};

export const machineConfigPools = toResource(machineConfigPoolKind, 'v1');
