// Boot images of a release that counts its builds, and machines that boot them, as an installer makes both.
import type { MachineSet } from '@slipway/api';

export const NAMESPACE = 'openshift-machine-api';
export const CLUSTER_API = 'openshift-cluster-api';
export const SERVER = 'https://192.0.2.1:22623';

export const formatVersion = (build: number): string => `9.8.2026040${build}-0`;
export const formatImage = (build: number): string =>
  `projects/rhcos-cloud/global/images/rhcos-${formatVersion(build).replaceAll('.', '-')}-gcp-x86-64`;
export const MINE = 'projects/mine/global/images/golden';

export const stream = (build: number): string =>
  JSON.stringify({
    architectures: {
      x86_64: {
        artifacts: { metal: { release: formatVersion(build) } },
        images: {
          gcp: { project: 'rhcos-cloud', name: formatImage(build).split('/').at(-1), release: formatVersion(build) },
        },
      },
    },
  });

export const gcpMachines = (name: string, image: string, more: object = {}): MachineSet => ({
  metadata: { namespace: NAMESPACE, name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { set: name } },
    template: {
      metadata: { labels: { set: name } },
      spec: {
        providerSpec: {
          value: {
            apiVersion: 'machine.openshift.io/v1beta1',
            kind: 'GCPMachineProviderSpec',
            disks: [{ boot: true, image, sizeGb: 128, labels: null }],
            userDataSecret: { name: 'worker-user-data' },
            ...more,
          },
        },
      },
    },
  },
});

/** As far as we are concerned, nothing but the way to the server. */
export const installersStub = JSON.stringify({
  ignition: {
    version: '3.2.0',
    config: { merge: [{ source: `${SERVER}/config/worker` }] },
    security: { tls: { certificateAuthorities: [{ source: 'data:text/plain;charset=utf-8;base64,b2xk' }] } },
  },
});

/** Of Cluster API. */
export const fromTemplate = (name: string, template: string) => ({
  metadata: { namespace: CLUSTER_API, name },
  spec: {
    clusterName: 'demo',
    replicas: 0,
    selector: { matchLabels: { set: name } },
    template: {
      metadata: { labels: { set: name } },
      spec: {
        clusterName: 'demo',
        bootstrap: { dataSecretName: 'worker-user-data' },
        infrastructureRef: {
          apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
          kind: 'GCPMachineTemplate',
          name: template,
        },
      },
    },
  },
});
