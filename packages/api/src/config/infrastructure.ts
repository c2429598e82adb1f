import { type Kind, type ObjectOf, toResource } from '../kind.ts';
import { choice, object, optional, text } from '../schema.ts';
import { CONFIG_GROUP } from './group.ts';
import { platformType } from './platform-fields.ts';
import { platformSpec } from './platform-spec.ts';
import { platformStatus } from './platform-status.ts';

const schema = object('What the cluster runs on. Its name is cluster.', {
  spec: object('Settings of the infrastructure.', {
    cloudConfig: optional(
      object('The ConfigMap with the configuration of the cloud provider, in the namespace openshift-config.', {
        name: optional(text('Name of the ConfigMap.')),
        key: optional(text('The key in it.')),
      }),
    ),
    platformSpec: optional(platformSpec),
  }),
  status: optional(
    object('What is known of the infrastructure.', {
      infrastructureName: optional(text('Short unique name of the cluster, used in the names of cloud resources.')),
      platform: optional(platformType('Superseded by platformStatus.type.')),
      platformStatus: optional(platformStatus),
      apiServerURL: optional(text('Address of the API server for users.')),
      apiServerInternalURI: optional(text('Address of the API server for machines.')),
      etcdDiscoveryDomain: optional(text('No longer used.')),
      controlPlaneTopology: optional(
        choice(
          ['HighlyAvailable', 'HighlyAvailableArbiter', 'SingleReplica', 'DualReplica', 'External'],
          'How many control plane nodes there are to be expected.',
          { default: 'HighlyAvailable' },
        ),
      ),
      infrastructureTopology: optional(
        choice(
          ['HighlyAvailable', 'SingleReplica'],
          'How many nodes there are to be expected for infrastructure workloads.',
          {
            default: 'HighlyAvailable',
          },
        ),
      ),
      cpuPartitioning: optional(
        choice(['None', 'AllNodes'], 'Whether workloads of the platform can be kept to CPUs of their own.', {
          default: 'None',
        }),
      ),
    }),
  ),
});

export type Infrastructure = ObjectOf<typeof schema>;

export const infrastructureKind: Kind<Infrastructure> = {
  group: CONFIG_GROUP,
  kind: 'Infrastructure',
  plural: 'infrastructures',
  namespaced: false,
  install: 'compat',
  versions: [{ name: 'v1', schema, status: true }],
};

export const infrastructures = toResource(infrastructureKind, 'v1');
