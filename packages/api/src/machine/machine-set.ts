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
import { labelSelector, QUALIFIED_NAME_PATTERN, taint } from '../shared-fields.ts';

const ownerReference = object(
  undefined,
  {
    apiVersion: text('API group and version of the owner.'),
    kind: text('Kind of the owner.'),
    name: text('Name of the owner.'),
    uid: text('UID of the owner.'),
    controller: optional(flag('Whether the owner manages the object.')),
    blockOwnerDeletion: optional(flag('Whether the owner can only be deleted after the object.')),
  },
  { atomic: true },
);

const templateMetadata = (description: string) =>
  object(description, {
    name: optional(text('Name. Left out, it is made from generateName.')),
    generateName: optional(text('Beginning of the name that the server completes.')),
    namespace: optional(text('Namespace.')),
    labels: optional(stringMap('Labels.')),
    annotations: optional(stringMap('Annotations.')),
    ownerReferences: optional(listMap('Objects that own this one.', ownerReference, ['uid'])),
  });

const lifecycleHooks = (description: string) =>
  listMap(
    description,
    object(undefined, {
      name: text('What the hook is for.', { minLength: 3, maxLength: 256, pattern: QUALIFIED_NAME_PATTERN }),
      owner: text('Who removes the hook when it is done.', { minLength: 3, maxLength: 512 }),
    }),
    ['name'],
  );

const machineSpec = object('What each machine shall be.', {
  metadata: optional(templateMetadata('Labels and annotations for the node.')),
  providerSpec: optional(
    object('What the platform needs to make the machine.', {
      value: optional(freeForm('The provider spec: image, size, network and so on, in the form of the platform.')),
    }),
  ),
  providerID: optional(text('ID of the machine on its platform.')),
  taints: optional(atomicList('Taints for the node.', taint)),
  lifecycleHooks: optional(
    object('What must be done before the machine goes.', {
      preDrain: optional(lifecycleHooks('Before its node is drained.')),
      preTerminate: optional(lifecycleHooks('Before it is terminated.')),
    }),
  ),
});

const spec = object('How many machines, and what they are.', {
  replicas: optional(int32('How many machines there shall be.', { default: 1 })),
  minReadySeconds: optional(int32('How long a machine must be ready to count as available.')),
  deletePolicy: optional(choice(['Random', 'Newest', 'Oldest'], 'Which machines go first when there are too many.')),
  selector: optional(labelSelector('Which machines belong to the set. Must match the labels of the template.')),
  template: optional(
    object('How a new machine is made. A change does not touch machines that exist.', {
      metadata: optional(templateMetadata('Labels and annotations for the machine.')),
      spec: optional(machineSpec),
    }),
  ),
});

const status = object('How many machines there are.', {
  replicas: optional(int32('Machines that exist.')),
  fullyLabeledReplicas: optional(int32('Machines that have the labels of the template.')),
  readyReplicas: optional(int32('Machines whose node is ready.')),
  availableReplicas: optional(int32('Machines that have been ready for minReadySeconds.')),
  observedGeneration: optional(int64('The generation of this object that the status is for.')),
  labelSelector: optional(text('The selector as a string, for autoscalers.', { minLength: 1, maxLength: 4096 })),
  authoritativeAPI: optional(
    choice(
      ['MachineAPI', 'ClusterAPI', 'Migrating'],
      'Which API decides about the set: writes to the other side are lost. Empty means MachineAPI.',
    ),
  ),
  errorReason: optional(text('Why the set cannot go on, in one word.')),
  errorMessage: optional(text('Why the set cannot go on, in a sentence.')),
  conditions: optional(
    listMap(
      'Findings about the set.',
      object(undefined, {
        type: text('What the condition is about.'),
        status: text('Whether the condition holds: True, False or Unknown.'),
        severity: optional(text('How bad it is when the condition does not hold.')),
        reason: optional(text('Why, in one word that programs may rely on.')),
        message: optional(text('Why, in a sentence for people.')),
        lastTransitionTime: timestamp('When the status last changed.'),
      }),
      ['type'],
    ),
  ),
});

const schema = object('A number of like machines of the Machine API.', {
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
