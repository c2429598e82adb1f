// Cluster API's own controllers in the cluster of the boot image tests, with a workload cluster in memory.
import { secrets } from '@slipway/api';
import { INFRASTRUCTURE_GROUP } from '@slipway/fleet/boot-images';
import type { Client, KubeObject, Resource } from '@slipway/kube';
import { customResourceDefinitions, installCrd, removeAll } from '@slipway/testing/resources';
import { runControllers } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import {
  type ClusterApiPrograms,
  makeClusterAuthority,
  type Manifest,
  startClusterApi,
} from '@slipway/tools/cluster-api';
import { awsMachineCrd, awsStandIn, devClusters, devMachines, memoryBackend } from './aws-stand-in.ts';
import { type BootImagesCluster, places } from './boot-images-cluster.ts';

export const CLUSTER_NAME = 'demo-x7k2p';
const clusterLabels = { 'cluster.x-k8s.io/cluster-name': CLUSTER_NAME };
const namespace = places.clusterApi;

/** A Machine, or what makes Machines, in v1beta2. */
export interface ClusterApiObject extends KubeObject {
  spec?: object;
  status?: { readonly phase?: string; readonly replicas?: number; readonly upToDateReplicas?: number };
}

const core = { group: 'cluster.x-k8s.io', version: 'v1beta2', namespaced: true } as const;
export const machines: Resource<ClusterApiObject> = { ...core, kind: 'Machine', plural: 'machines' };
const clusters: Resource<ClusterApiObject> = { ...core, kind: 'Cluster', plural: 'clusters' };

const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
const webhookConfigurations: readonly Resource[] = [
  { ...admission, kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations' },
  { ...admission, kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations' },
];

export interface RealClusterApi {
  /** The user of both controller managers in the audit log. */
  readonly user: string;
  log(this: void): string;
  stop(this: void): Promise<void>;
}

/** Both controller managers, the stand-in for AWS, and a cluster whose control plane is one machine in memory. */
export async function startRealClusterApi(
  { client, kubeconfigFor }: BootImagesCluster,
  programs: ClusterApiPrograms,
): Promise<RealClusterApi> {
  const user = 'cluster-api';
  const kubeconfig = await kubeconfigFor({ user, groups: ['system:masters'] });
  await installCrd(client, awsMachineCrd);
  const own = await startClusterApi({ programs, kubeconfig, install: (manifests) => install(client, manifests) });
  const standIn = runControllers(client, [awsStandIn(namespace)]);
  const stop = async (): Promise<void> => {
    // Without the controllers, their webhooks would refuse every write.
    await removeAll(client, ...webhookConfigurations);
    await standIn.stop();
    await own.stop();
  };
  try {
    await until(() => createCluster(client));
  } catch (error) {
    await stop();
    throw error;
  }
  return { user, log: () => `${own.log()}\n${standIn.log()}`, stop };
}

async function install(client: Client, manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) {
    const resource = [customResourceDefinitions, ...webhookConfigurations].find(({ kind }) => kind === manifest.kind);
    const object = toObject(manifest);
    if (resource === undefined) throw new Error(`${manifest.kind} is not expected`);
    if (resource !== customResourceDefinitions) await client.create(resource, object);
    else {
      // Slipway has installed its own CRDs of some kinds: they become Cluster API's.
      const found = await client.find(customResourceDefinitions, object.metadata);
      if (found !== undefined)
        await client.patch(customResourceDefinitions, object.metadata, { type: 'merge', body: object }, {});
      await installCrd(client, object);
    }
  }
}

const toObject = (manifest: Manifest): KubeObject => ({
  ...manifest,
  metadata: { ...manifest.metadata, labels: { ...manifest.metadata.labels } },
});

/** As an installer does it that uses no control plane provider: kubeadm's authorities, and the first machine. */
async function createCluster(client: Client): Promise<void> {
  const infrastructureRef = (kind: string, name: string) => ({ apiGroup: INFRASTRUCTURE_GROUP, kind, name });
  const metadata = { namespace, name: CLUSTER_NAME };
  if ((await client.find(clusters, metadata)) !== undefined) return;
  for (const purpose of ['ca', 'etcd']) {
    const { certificate, key } = await makeClusterAuthority();
    const name = `${CLUSTER_NAME}-${purpose}`;
    await client.apply(
      secrets,
      {
        metadata: { namespace, name, labels: clusterLabels },
        type: 'cluster.x-k8s.io/secret',
        data: { 'tls.crt': encode(certificate), 'tls.key': encode(key) },
      },
      {},
      { fieldManager: 'installer' },
    );
  }
  const first = { namespace, name: `${CLUSTER_NAME}-master-0` };
  const options = { fieldManager: 'installer' };
  // The provider writes an annotation, and expects that there is one already.
  const annotations = { 'cluster.x-k8s.io/cloned-from-name': 'a-template' };
  const memory = { metadata: { ...metadata, annotations }, spec: { backend: { inMemory: {} } } };
  await client.apply(devClusters, memory, {}, options);
  const dev = { metadata: { ...first, labels: clusterLabels }, spec: { backend: memoryBackend } };
  await client.apply(devMachines, dev, {}, options);
  const spec = {
    clusterName: CLUSTER_NAME,
    version: 'v1.34.0',
    bootstrap: { dataSecretName: 'master-user-data' },
    infrastructureRef: infrastructureRef('DevMachine', first.name),
  };
  const labels = { ...clusterLabels, 'cluster.x-k8s.io/control-plane': '' };
  await client.apply(machines, { metadata: { ...first, labels }, spec }, {}, options);
  await client.create(clusters, {
    metadata,
    spec: { infrastructureRef: infrastructureRef('DevCluster', CLUSTER_NAME) },
  });
}

const encode = (text: string): string => Buffer.from(text).toString('base64');
