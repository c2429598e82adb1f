import { ageColumn, type Kind, type ObjectOf, toResource, type Column, replicasScale } from '../kind.ts';
import { choice, flag, int32, intOrString, object, optional, text, timestamp } from '../schema.ts';
import { labelSelector } from '../shared-fields.ts';
import {
  CLUSTER_API_GROUP,
  deletePolicies,
  machineNamingStrategy,
  machineStatusFields,
  machineTemplate,
  NEWER_CLUSTER_API_VERSIONS,
} from './machine-template.ts';

const strategy = object('How machines are replaced after the template changes.', {
  type: optional(
    choice(['RollingUpdate', 'OnDelete'], 'RollingUpdate: gradually. OnDelete: each machine when a user deletes it.'),
  ),
  rollingUpdate: optional(
    object('Settings for RollingUpdate.', {
      maxUnavailable: optional(
        intOrString('Maximum number of unavailable machines during the update: a number or a percentage.'),
      ),
      maxSurge: optional(
        intOrString('Maximum number of machines above the desired number during the update: a number or a percentage.'),
      ),
      deletePolicy: optional(choice(deletePolicies, 'Which machines are deleted first.')),
    }),
  ),
  remediation: optional(
    object('How unhealthy machines are replaced.', {
      maxInFlight: optional(
        intOrString('Maximum number of machines that are replaced concurrently: a number or a percentage.'),
      ),
    }),
  ),
});

const schema = object(
  'A set of identical machines, managed by Cluster API, that are replaced when their template changes.',
  {
    spec: optional(
      object('Desired number and configuration of the machines.', {
        clusterName: text('Name of the Cluster that the machines belong to.', { minLength: 1, maxLength: 63 }),
        replicas: optional(int32('Desired number of machines.')),
        selector: labelSelector(
          'Selects the machines of the MachineDeployment. Must match the labels of the template.',
        ),
        template: machineTemplate,
        strategy: optional(strategy),
        minReadySeconds: optional(int32('Seconds that a machine must be ready before it counts as available.')),
        machineNamingStrategy: optional(machineNamingStrategy),
        paused: optional(flag('Stops the replacement of machines.')),
        rolloutAfter: optional(
          timestamp('Machines are replaced after this time even if the template has not changed.'),
        ),
        revisionHistoryLimit: optional(int32('Number of old MachineSets to retain.')),
        progressDeadlineSeconds: optional(int32('Seconds without progress after which the update counts as failed.')),
      }),
    ),
    status: optional(
      object('Observed machines of the MachineDeployment.', {
        ...machineStatusFields,
        updatedReplicas: optional(int32('Machines created from the current template.')),
        unavailableReplicas: optional(int32('Desired machines that are missing or not available.')),
        phase: optional(text('Current phase: ScalingUp, ScalingDown, Running, Failed or Unknown.')),
      }),
    ),
  },
);

export type MachineDeployment = ObjectOf<typeof schema>;

const columns: Column[] = [
  { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName' },
  { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas', priority: 10 },
  { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
  { name: 'Updated', type: 'integer', jsonPath: '.status.updatedReplicas' },
  { name: 'Unavailable', type: 'integer', jsonPath: '.status.unavailableReplicas' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  ageColumn,
  { name: 'Version', type: 'string', jsonPath: '.spec.template.spec.version' },
];

export const machineDeploymentKind: Kind<MachineDeployment> = {
  group: CLUSTER_API_GROUP,
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
  shortNames: ['md'],
  categories: ['cluster-api'],
  namespaced: true,
  install: 'compat',
  versions: [{ name: 'v1beta1', schema, columns, status: true, scale: replicasScale('.status.selector') }],
};

export const machineDeployments = toResource(machineDeploymentKind, 'v1beta1', NEWER_CLUSTER_API_VERSIONS);
