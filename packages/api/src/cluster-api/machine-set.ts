import { ageColumn, type Kind, type ObjectOf, toResource, type Column, replicasScale } from '../kind.ts';
import { choice, int32, object, optional, text } from '../schema.ts';
import { labelSelector } from '../shared-fields.ts';
import {
  CLUSTER_API_GROUP,
  deletePolicies,
  machineNamingStrategy,
  machineStatusFields,
  machineTemplate,
  NEWER_CLUSTER_API_VERSIONS,
} from './machine-template.ts';

const schema = object('A set of identical machines, managed by Cluster API.', {
  spec: optional(
    object('Desired number and configuration of the machines.', {
      clusterName: text('Name of the Cluster that the machines belong to.', { minLength: 1, maxLength: 63 }),
      replicas: optional(int32('Desired number of machines.')),
      minReadySeconds: optional(int32('Seconds that a machine must be ready before it counts as available.')),
      deletePolicy: optional(choice(deletePolicies, 'Which machines are deleted first when the set is scaled down.')),
      selector: labelSelector('Selects the machines of the set. Must match the labels of the template.'),
      template: optional(machineTemplate),
      machineNamingStrategy: optional(machineNamingStrategy),
    }),
  ),
  status: optional(
    object('Observed machines of the set.', {
      ...machineStatusFields,
      fullyLabeledReplicas: optional(int32('Machines that have the labels of the template.')),
      failureReason: optional(text('Machine-readable reason for a terminal failure, one word.')),
      failureMessage: optional(
        text('Human-readable explanation of a terminal failure.', { minLength: 1, maxLength: 10_240 }),
      ),
    }),
  ),
});

export type ClusterApiMachineSet = ObjectOf<typeof schema>;

const columns: Column[] = [
  { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName' },
  { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas', priority: 10 },
  { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
  { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
  ageColumn,
  { name: 'Version', type: 'string', jsonPath: '.spec.template.spec.version' },
];

export const clusterApiMachineSetKind: Kind<ClusterApiMachineSet> = {
  group: CLUSTER_API_GROUP,
  kind: 'MachineSet',
  plural: 'machinesets',
  shortNames: ['ms'],
  categories: ['cluster-api'],
  namespaced: true,
  install: 'compat',
  versions: [{ name: 'v1beta1', schema, columns, status: true, scale: replicasScale('.status.selector') }],
};

export const clusterApiMachineSets = toResource(clusterApiMachineSetKind, 'v1beta1', NEWER_CLUSTER_API_VERSIONS);
