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
      source: optional(atomicList('The MachineConfigs that it was merged from, in merge order.', objectReference())),
    },
    { atomic: true },
  );

const osImageStream = (description: string) =>
  object(description, {
    name: subdomain('Name of the stream, as in the availableStreams of the OSImageStream "cluster".', { minLength: 1 }),
  });

// Written out because kubectl explain shows each of them.
const machineCounts = {
  machineCount: 'Machines in the pool.',
  updatedMachineCount: 'Machines that have reached the target.',
  readyMachineCount: 'Machines that have reached the target and are ready.',
  availableMachineCount: 'Machines that are available, whether or not they have reached the target.',
  unavailableMachineCount: 'Machines that are currently unavailable.',
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
    poolSynchronizerType: choice(['PinnedImageSets'], 'Type of the content that is distributed to the machines.', {
      maxLength: 256,
    }),
    machineCount: synchronizerCount('machineCount'),
    updatedMachineCount: synchronizerCount('updatedMachineCount'),
    readyMachineCount: synchronizerCount('readyMachineCount'),
    availableMachineCount: synchronizerCount('availableMachineCount'),
    unavailableMachineCount: synchronizerCount('unavailableMachineCount'),
    observedGeneration: optional(
      int64('The metadata.generation of the pool that the counts reflect.', {
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

const spec = object('Desired state of the pool.', {
  machineConfigSelector: optional(
    labelSelector(
      'Selects the MachineConfigs that make up the configuration of the pool. A custom pool selects the role worker and its own role.',
    ),
  ),
  nodeSelector: optional(
    labelSelector(
      'Selects the nodes of the pool. A node that matches both a custom pool and the pool worker belongs to the custom pool.',
    ),
  ),
  paused: optional(
    flag(
      'Stops the rollout of new configurations. Machines that are already updating finish. A paused pool receives no updates or security fixes, so do not leave it paused.',
    ),
  ),
  maxUnavailable: optional(
    intOrString(
      'Maximum number of machines that may be unavailable at the same time during an update: a number, or a percentage of the pool, rounded down but at least 1. Default 1. Failed machines count as unavailable.',
    ),
  ),
  osImageStream: optional(
    osImageStream(
      'OS image stream that the machines run. If omitted, the pool stays on its current stream, even when the default of the cluster changes.',
    ),
  ),
  pinnedImageSets: optional(
    listMap(
      'PinnedImageSets whose images are pinned on every machine of the pool. The controller adds the sets that match the pool by label.',
      object(undefined, {
        name: text('Name of the PinnedImageSet.', {
          minLength: 1,
          maxLength: 253,
          pattern: `^${HOST_LABEL}(\\.${HOST_LABEL})*$`,
          expected: 'consist of lower-case letters, digits, "-" and ".", and start and end with a letter or digit',
        }),
      }),
      ['name'],
      { maxItems: 100 },
    ),
  ),
  configuration: optional(
    renderedConfig(
      'The rendered MachineConfig that the machines should run. The controller writes it; do not edit it.',
    ),
  ),
});

const poolCondition = object(undefined, {
  type: optional(text('Type of the condition: Updated, Updating, Degraded and so on.')),
  status: optional(text('Status of the condition: True, False or Unknown.')),
  reason: optional(text('Machine-readable reason, one CamelCase word.')),
  message: optional(text('Human-readable explanation.')),
  lastTransitionTime: optional(nullable(timestamp('When the status last changed.'))),
});

const status = object('Observed state of the pool.', {
  observedGeneration: optional(int64('The metadata.generation that this status reflects.')),
  configuration: optional(renderedConfig('The rendered MachineConfig that updated machines run.')),
  machineCount: optional(int32('Machines in the pool.')),
  updatedMachineCount: optional(int32('Machines that run the rendered MachineConfig of spec.configuration.')),
  readyMachineCount: optional(int32('Machines that run it and whose Node is Ready.')),
  unavailableMachineCount: optional(int32('Machines that are unavailable: updating, not Ready or cordoned.')),
  degradedMachineCount: optional(int32('Machines that failed to apply their configuration and need attention.')),
  conditions: optional(atomicList('Conditions of the pool: Updated, Updating, Degraded and others.', poolCondition)),
  certExpirys: optional(
    atomicList(
      'Expiry of the certificates on the machines.',
      object(undefined, {
        bundle: text('Bundle that contains the certificate.'),
        subject: text('Subject of the certificate.'),
        expiry: optional(timestamp('When the certificate expires.')),
      }),
    ),
  ),
  poolSynchronizersStatus: optional(
    listMap(
      'Rollout progress of content other than the rendered MachineConfig, such as pinned images.',
      poolSynchronizer,
      ['poolSynchronizerType'],
    ),
  ),
  osImageStream: optional(
    osImageStream('OS image stream that every machine of the pool runs. Set when the last machine has reached it.'),
  ),
});

const schema = object('A group of machines that share one configuration and are updated together, a few at a time.', {
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
  conditionColumn('Updated', { description: 'All machines run the latest configuration.' }),
  conditionColumn('Updating', { description: 'Some machines are updating to it.' }),
  conditionColumn('Degraded', { description: 'The pool is degraded; its conditions name the cause and the remedy.' }),
  countColumn('MachineCount', 'Machines in the pool.'),
  countColumn('ReadyMachineCount', 'Machines that are updated and ready.'),
  countColumn('UpdatedMachineCount', 'Machines that are updated.'),
  countColumn('DegradedMachineCount', 'Machines that failed to apply their configuration.'),
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
