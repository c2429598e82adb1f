import { ageColumn, type Kind, type ObjectOf, toResource, type Column, replicasScale } from '../kind.ts';
import {
  atomicList,
  choice,
  flag,
  freeForm,
  int32,
  int64,
  listMap,
  object,
  optional,
  stringMap,
  text,
  timestamp,
} from '../schema.ts';
import { labelSelector, qualifiedName, taint } from '../shared-fields.ts';

const ownerReference = object(
  undefined,
  {
    apiVersion: text('API group and version of the owner.'),
    kind: text('Kind of the owner.'),
    name: text('Name of the owner.'),
    uid: text('UID of the owner.'),
    controller: optional(flag('Whether the owner is the managing controller of the object.')),
    blockOwnerDeletion: optional(flag('Whether the owner cannot be deleted before the object.')),
  },
  { atomic: true },
);

const templateMetadata = (description: string) =>
  object(description, {
    name: optional(text('Name. If omitted, it is generated from generateName.')),
    generateName: optional(text('Prefix of a generated name.')),
    namespace: optional(text('Namespace.')),
    labels: optional(stringMap('Labels.')),
    annotations: optional(stringMap('Annotations.')),
    ownerReferences: optional(listMap('Objects that own this one.', ownerReference, ['uid'])),
  });

const lifecycleHooks = (description: string) =>
  listMap(
    description,
    object(undefined, {
      name: text('Name of the hook.', { minLength: 3, maxLength: 256, ...qualifiedName }),
      owner: text('Owner of the hook, which removes it when it is done.', { minLength: 3, maxLength: 512 }),
    }),
    ['name'],
  );

const machineSpec = object('Desired state of each machine.', {
  metadata: optional(templateMetadata('Labels and annotations for the node.')),
  providerSpec: optional(
    object('What the platform needs to create the machine.', {
      value: optional(freeForm('Provider spec in the format of the platform: image, size, network and so on.')),
    }),
  ),
  providerID: optional(text('ID of the machine on its platform.')),
  taints: optional(atomicList('Taints for the node.', taint)),
  lifecycleHooks: optional(
    object('Hooks that must finish before the machine is deleted.', {
      preDrain: optional(lifecycleHooks('Hooks that must finish before the node is drained.')),
      preTerminate: optional(lifecycleHooks('Hooks that must finish before the machine is terminated.')),
    }),
  ),
});

const spec = object('Desired number and configuration of the machines.', {
  replicas: optional(int32('Desired number of machines.', { default: 1 })),
  minReadySeconds: optional(int32('Seconds that a machine must be ready before it counts as available.')),
  deletePolicy: optional(
    choice(['Random', 'Newest', 'Oldest'], 'Which machines are deleted first when the set is scaled down.'),
  ),
  selector: optional(labelSelector('Selects the machines of the set. Must match the labels of the template.')),
  template: optional(
    object('Template for new machines. Changes do not affect existing machines.', {
      metadata: optional(templateMetadata('Labels and annotations for the machine.')),
      spec: optional(machineSpec),
    }),
  ),
});

const status = object('Observed machines of the set.', {
  replicas: optional(int32('Machines that exist.')),
  fullyLabeledReplicas: optional(int32('Machines that have the labels of the template.')),
  readyReplicas: optional(int32('Machines whose Node is Ready.')),
  availableReplicas: optional(int32('Machines that have been ready for minReadySeconds.')),
  observedGeneration: optional(int64('The metadata.generation that this status reflects.')),
  labelSelector: optional(text('The selector as a string, for autoscalers.', { minLength: 1, maxLength: 4096 })),
  authoritativeAPI: optional(
    choice(
      ['MachineAPI', 'ClusterAPI', 'Migrating'],
      'API that controls the set. Changes in the other API are overwritten. Empty means MachineAPI.',
    ),
  ),
  errorReason: optional(text('Machine-readable reason for a terminal failure, one word.')),
  errorMessage: optional(text('Human-readable explanation of a terminal failure.')),
  conditions: optional(
    listMap(
      'Conditions of the set.',
      object(undefined, {
        type: text('Type of the condition.'),
        status: text('Status of the condition: True, False or Unknown.'),
        severity: optional(text('Severity while the condition is not met.')),
        reason: optional(text('Machine-readable reason, one CamelCase word.')),
        message: optional(text('Human-readable explanation.')),
        lastTransitionTime: timestamp('When the status last changed.'),
      }),
      ['type'],
    ),
  ),
});

const schema = object('A set of identical machines, managed by the Machine API.', {
  spec: optional(spec),
  status: optional(status),
});

export type MachineSet = ObjectOf<typeof schema>;

const columns: Column[] = [
  { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
  { name: 'Current', type: 'integer', jsonPath: '.status.replicas' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
  { name: 'Available', type: 'string', jsonPath: '.status.availableReplicas' },
  ageColumn,
];

export const machineSetKind: Kind<MachineSet> = {
  group: 'machine.openshift.io',
  kind: 'MachineSet',
  plural: 'machinesets',
  namespaced: true,
  install: 'compat',
  versions: [{ name: 'v1beta1', schema, columns, status: true, scale: replicasScale('.status.labelSelector') }],
};

export const machineSets = toResource(machineSetKind, 'v1beta1');
