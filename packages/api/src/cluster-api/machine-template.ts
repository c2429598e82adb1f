// What MachineSets and MachineDeployments of Cluster API share.
import { atomicList, choice, int32, int64, listMap, object, optional, stringMap, text, timestamp } from '../schema.ts';
import { conditions, objectReference, QUALIFIED_NAME_PATTERN } from '../shared-fields.ts';

export const CLUSTER_API_GROUP = 'cluster.x-k8s.io';

const bootstrap = object('Where the machine gets its first-boot configuration from. One of the two.', {
  configRef: optional(objectReference('A template of a bootstrap provider.')),
  dataSecretName: optional(text('Name of the Secret that holds the configuration.', { maxLength: 253 })),
});

const readinessGate = object(undefined, {
  conditionType: text('Type of the condition.', { minLength: 1, maxLength: 316, pattern: QUALIFIED_NAME_PATTERN }),
  polarity: optional(choice(['Positive', 'Negative'], 'Whether the condition is good when True, or when False.')),
});

/** How MachineSets and MachineDeployments of Cluster API say what a machine is. */
export const machineTemplate = object('How a new machine is made.', {
  metadata: optional(
    object('Labels and annotations for the machine.', {
      labels: optional(stringMap('Labels.')),
      annotations: optional(stringMap('Annotations.')),
    }),
  ),
  spec: optional(
    object('What each machine shall be.', {
      clusterName: text('Name of the Cluster the machine belongs to.', { minLength: 1, maxLength: 63 }),
      bootstrap,
      infrastructureRef: objectReference(
        'The template of the infrastructure provider, with the boot image in it. Templates cannot be changed: to change the image, point at another.',
      ),
      version: optional(text('Version of Kubernetes.', { minLength: 1, maxLength: 256 })),
      providerID: optional(text('ID of the machine on its platform.', { minLength: 1, maxLength: 512 })),
      failureDomain: optional(text('Where the machine shall be.', { minLength: 1, maxLength: 256 })),
      readinessGates: optional(
        listMap('Further conditions that a machine must meet to be ready.', readinessGate, ['conditionType'], {
          maxItems: 32,
        }),
      ),
      nodeDrainTimeout: optional(text('How long draining may take, such as 10m. 0 is for ever.')),
      nodeVolumeDetachTimeout: optional(text('How long to wait for volumes to be detached. 0 is for ever.')),
      nodeDeletionTimeout: optional(text('How long to try to delete the Node. 0 is for ever.')),
    }),
  ),
});

export const machineNamingStrategy = object('How machines are named.', {
  template: optional(text('A template for the name; it must contain {{ .random }}.', { minLength: 1, maxLength: 256 })),
});

export const deletePolicies = ['Random', 'Newest', 'Oldest'] as const;

const condition = object(undefined, {
  type: text('What the condition is about.', { minLength: 1, maxLength: 256 }),
  status: text('Whether the condition holds: True, False or Unknown.'),
  severity: optional(text('How bad it is when the condition does not hold.', { maxLength: 32 })),
  reason: optional(text('Why, in one word that programs may rely on.', { minLength: 1, maxLength: 256 })),
  message: optional(text('Why, in a sentence for people.', { minLength: 1, maxLength: 10_240 })),
  lastTransitionTime: timestamp('When the status last changed.'),
});

/** What the statuses of MachineSets and MachineDeployments of Cluster API have in common. */
export const machineStatusFields = {
  observedGeneration: optional(int64('The generation of this object that the status is for.')),
  selector: optional(text('The selector as a string, for autoscalers.', { minLength: 1, maxLength: 4096 })),
  replicas: optional(int32('Machines that exist.')),
  readyReplicas: optional(int32('Machines whose node is ready.')),
  availableReplicas: optional(int32('Machines that have been ready for minReadySeconds.')),
  conditions: optional(atomicList('Findings, in the form of v1beta1.', condition)),
  v1beta2: optional(
    object('The parts of the status that v1beta2 has differently.', {
      conditions: optional(conditions('Findings.', { maxItems: 32 })),
      readyReplicas: optional(int32('Machines that are ready.')),
      availableReplicas: optional(int32('Machines that are available.')),
      upToDateReplicas: optional(int32('Machines made from the present template.')),
    }),
  ),
};
