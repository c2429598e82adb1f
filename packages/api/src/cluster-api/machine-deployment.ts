import { ageColumn, type Kind, type ObjectOf, toResource, type Column, replicasScale } from '../kind.ts';
import { choice, flag, int32, intOrString, object, optional, text, timestamp } from '../schema.ts';
import { labelSelector } from '../shared-fields.ts';
import {
  CLUSTER_API_GROUP,
  deletePolicies,
  machineNamingStrategy,
  machineStatusFields,
  machineTemplate,
} from './machine-template.ts';

const strategy = object('How machines are replaced after a change of the template.', {
  type: optional(choice(['RollingUpdate', 'OnDelete'], 'One after another, or each when somebody deletes it.')),
  rollingUpdate: optional(
    object('Settings for RollingUpdate.', {
      maxUnavailable: optional(intOrString('How many machines may be missing at once: a number or a percentage.')),
      maxSurge: optional(
        intOrString('How many machines more than wanted there may be at once: a number or a percentage.'),
      ),
      deletePolicy: optional(choice(deletePolicies, 'Which machines go first.')),
    }),
  ),
  remediation: optional(
    object('How unhealthy machines are replaced.', {
      maxInFlight: optional(intOrString('How many at once: a number or a percentage.')),
    }),
  ),
});

const schema = object('A number of like machines of Cluster API that are replaced when their template changes.', {
  spec: optional(
    object('How many machines, and what they are.', {
      clusterName: text('Name of the Cluster the machines belong to.', { minLength: 1, maxLength: 63 }),
      replicas: optional(int32('How many machines there shall be.')),
      selector: labelSelector('Which machines belong to it. Must match the labels of the template.'),
      template: machineTemplate,
      strategy: optional(strategy),
      minReadySeconds: optional(int32('How long a machine must be ready to count as available.')),
      machineNamingStrategy: optional(machineNamingStrategy),
      paused: optional(flag('Stop replacing machines.')),
      rolloutAfter: optional(timestamp('Replace machines after this time even if nothing has changed.')),
      revisionHistoryLimit: optional(int32('How many old MachineSets are kept.')),
      progressDeadlineSeconds: optional(int32('How long without progress counts as failure.')),
    }),
  ),
  status: optional(
    object('How many machines there are.', {
      ...machineStatusFields,
      updatedReplicas: optional(int32('Machines made from the present template.')),
      unavailableReplicas: optional(int32('Machines that are wanted but missing or not available.')),
      phase: optional(text('What it is doing: ScalingUp, ScalingDown, Running, Failed or Unknown.')),
    }),
  ),
});

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

export const machineDeployments = toResource(machineDeploymentKind, 'v1beta1');
