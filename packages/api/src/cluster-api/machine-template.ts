// Shared by MachineSets and MachineDeployments of Cluster API.
import { atomicList, choice, int32, int64, listMap, object, optional, stringMap, text, timestamp } from '../schema.ts';
import { conditions, objectReference, qualifiedName } from '../shared-fields.ts';

export const CLUSTER_API_GROUP = 'cluster.x-k8s.io';

/**
 * Of MachineSets and MachineDeployments, besides v1beta1. The fields that controllers read are the same there, except for
 * the strategy of a MachineDeployment and the group of infrastructureRef; code that reads those accepts both formats.
 */
export const NEWER_CLUSTER_API_VERSIONS = ['v1beta2'] as const;

const bootstrap = object('Source of the first-boot configuration: configRef or dataSecretName.', {
  configRef: optional(objectReference('Template of a bootstrap provider.')),
  dataSecretName: optional(text('Name of the Secret with the configuration.', { maxLength: 253 })),
});

const readinessGate = object(undefined, {
  conditionType: text('Type of the condition.', { minLength: 1, maxLength: 316, ...qualifiedName }),
  polarity: optional(
    choice(['Positive', 'Negative'], 'Positive: the condition must be True. Negative: it must be False.'),
  ),
});

export const machineTemplate = object('Template for new machines.', {
  metadata: optional(
    object('Labels and annotations for the machine.', {
      labels: optional(stringMap('Labels.')),
      annotations: optional(stringMap('Annotations.')),
    }),
  ),
  spec: optional(
    object('Desired state of each machine.', {
      clusterName: text('Name of the Cluster that the machine belongs to.', { minLength: 1, maxLength: 63 }),
      bootstrap,
      infrastructureRef: objectReference(
        'Template of the infrastructure provider, which contains the boot image. Templates are immutable: to change the image, reference another template.',
      ),
      version: optional(text('Kubernetes version.', { minLength: 1, maxLength: 256 })),
      providerID: optional(text('ID of the machine on its platform.', { minLength: 1, maxLength: 512 })),
      failureDomain: optional(text('Failure domain to create the machine in.', { minLength: 1, maxLength: 256 })),
      readinessGates: optional(
        listMap('Additional conditions that a machine must meet to be ready.', readinessGate, ['conditionType'], {
          maxItems: 32,
        }),
      ),
      nodeDrainTimeout: optional(text('Timeout for the drain, such as 10m. 0 means no timeout.')),
      nodeVolumeDetachTimeout: optional(text('Timeout for detaching volumes. 0 means no timeout.')),
      nodeDeletionTimeout: optional(text('Timeout for deleting the Node. 0 means no timeout.')),
    }),
  ),
});

export const machineNamingStrategy = object('How machines are named.', {
  template: optional(text('Template for the name. It must contain {{ .random }}.', { minLength: 1, maxLength: 256 })),
});

export const deletePolicies = ['Random', 'Newest', 'Oldest'] as const;

const condition = object(undefined, {
  type: text('Type of the condition.', { minLength: 1, maxLength: 256 }),
  status: text('Status of the condition: True, False or Unknown.'),
  severity: optional(text('Severity while the condition is not met.', { maxLength: 32 })),
  reason: optional(text('Machine-readable reason, one CamelCase word.', { minLength: 1, maxLength: 256 })),
  message: optional(text('Human-readable explanation.', { minLength: 1, maxLength: 10_240 })),
  lastTransitionTime: timestamp('When the status last changed.'),
});

export const machineStatusFields = {
  observedGeneration: optional(int64('The metadata.generation that this status reflects.')),
  selector: optional(text('The selector as a string, for autoscalers.', { minLength: 1, maxLength: 4096 })),
  replicas: optional(int32('Machines that exist.')),
  readyReplicas: optional(int32('Machines whose Node is Ready.')),
  availableReplicas: optional(int32('Machines that have been ready for minReadySeconds.')),
  conditions: optional(atomicList('Conditions in the v1beta1 format.', condition)),
  v1beta2: optional(
    object('Status fields that differ in v1beta2.', {
      conditions: optional(conditions('Conditions in the v1beta2 format.', { maxItems: 32 })),
      readyReplicas: optional(int32('Machines that are ready.')),
      availableReplicas: optional(int32('Machines that are available.')),
      upToDateReplicas: optional(int32('Machines created from the current template.')),
    }),
  ),
};
