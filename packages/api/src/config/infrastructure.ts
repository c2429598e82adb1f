import { type Kind, type ObjectOf, toResource } from '../kind.ts';
import { choice, object, optional, text } from '../schema.ts';
import { CONFIG_GROUP } from './group.ts';
import { platformType } from './platform-fields.ts';
import { platformSpec } from './platform-spec.ts';
import { platformStatus } from './platform-status.ts';

const schema = object('Infrastructure that the cluster runs on. There is one Infrastructure, named cluster.', {
  spec: object('Settings for the infrastructure.', {
    cloudConfig: optional(
      object('ConfigMap with the cloud provider configuration, in the namespace openshift-config.', {
        name: optional(text('Name of the ConfigMap.')),
        key: optional(text('Key in the ConfigMap.')),
      }),
    ),
    platformSpec: optional(platformSpec),
  }),
  status: optional(
    object('Observed infrastructure.', {
      infrastructureName: optional(text('Short unique name of the cluster, used in the names of cloud resources.')),
      platform: optional(platformType('Deprecated: use platformStatus.type.')),
      platformStatus: optional(platformStatus),
      apiServerURL: optional(text('URL of the API server for users.')),
      apiServerInternalURI: optional(text('URL of the API server for machines.')),
      etcdDiscoveryDomain: optional(text('No longer used.')),
      controlPlaneTopology: optional(
        choice(
          ['HighlyAvailable', 'HighlyAvailableArbiter', 'SingleReplica', 'DualReplica', 'External'],
          'Expected topology of the control plane nodes.',
          { default: 'HighlyAvailable' },
        ),
      ),
      infrastructureTopology: optional(
        choice(['HighlyAvailable', 'SingleReplica'], 'Expected topology of the nodes for infrastructure workloads.', {
          default: 'HighlyAvailable',
        }),
      ),
      cpuPartitioning: optional(
        choice(['None', 'AllNodes'], 'Whether platform workloads can be restricted to reserved CPUs.', {
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
