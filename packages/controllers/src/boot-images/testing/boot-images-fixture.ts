// The start of the boot image tests: a cluster whose release has newer images than its machines.
import {
  type ClusterApiMachineSet,
  clusterApiMachineSets,
  type MachineDeployment,
  type MachineSet,
  machineSets,
} from '@slipway/api';
import type { JsonObject, MachineManager } from '@slipway/fleet/boot-images';
import { bootImagesData, installer3, keptOfOlderRelease, managedStub } from '@slipway/fleet/boot-images/testing';
import type { KubeObject, Stored } from '@slipway/kube';
import { until } from '@slipway/testing/wait';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import {
  type BootImagesCluster,
  places,
  type Running,
  type ControllerRunOptions,
  startBootImagesCluster,
} from './boot-images-cluster.ts';

export let cluster: BootImagesCluster;
const running: Running[] = [];

/** For the top of a test file. */
export function useBootImagesCluster(): void {
  beforeAll(async () => {
    cluster = await startBootImagesCluster();
  });
  afterAll(() => cluster?.stop());
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop();
    await cluster.clear();
  });
}

export async function run(wish?: ControllerRunOptions): Promise<Running> {
  const started = await cluster.run(wish);
  running.push(started);
  return started;
}

const managing = (
  resource: MachineManager['resource'],
  apiGroup: MachineManager['apiGroup'],
  selection: MachineManager['selection'] = { mode: 'All' },
): MachineManager => ({ resource, apiGroup, selection });

export const opt = {
  machineSets: (selection?: MachineManager['selection']) => managing('machinesets', 'machine.openshift.io', selection),
  clusterApiMachineSets: (selection?: MachineManager['selection']) =>
    managing('machinesets', 'cluster.x-k8s.io', selection),
  machineDeployments: (selection?: MachineManager['selection']) =>
    managing('machinedeployments', 'cluster.x-k8s.io', selection),
};
export const everything: readonly MachineManager[] = [
  opt.machineSets(),
  opt.clusterApiMachineSets(),
  opt.machineDeployments(),
];

export const machineApiStub = (stub: object) => ({ userData: JSON.stringify(stub), disableTemplating: 'true' });
const clusterApiStub = (stub: object) => ({ value: JSON.stringify(stub), format: 'ignition' });

/** A cluster on a platform, fully opted in, with the boot images of the release. */
export async function prepare(platform = 'GCP', managers: readonly MachineManager[] = everything): Promise<void> {
  await cluster.setPlatform(platform);
  await cluster.addPools();
  await cluster.setSecret(places.machineApi, 'worker-user-data', machineApiStub(installer3()));
  await cluster.setSecret(places.machineApi, 'worker-user-data-managed', machineApiStub(managedStub()));
  await cluster.setSecret(places.clusterApi, 'worker-user-data', clusterApiStub(installer3()));
  await cluster.setSecret(places.clusterApi, 'worker-user-data-managed', clusterApiStub(managedStub()));
  await cluster.setGolden(bootImagesData(), { 'slipway.dev/boot-images-known': keptOfOlderRelease });
  if (managers.length > 0) await cluster.optIn(managers);
}

export interface MachineSetOptions {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly owner?: NonNullable<MachineSet['metadata']['ownerReferences']>[number];
  readonly machineLabels?: Record<string, string>;
  readonly replicas?: number;
}

/** As an installer creates it, with fields that no controller here reads. */
const buildMachineSet = (name: string, providerSpec: JsonObject, wish: MachineSetOptions = {}): MachineSet => ({
  metadata: {
    name,
    namespace: places.machineApi,
    labels: { 'machine.openshift.io/cluster-api-cluster': 'demo-x7k2p', ...wish.labels },
    annotations: { 'machine.openshift.io/vCPU': '4', ...wish.annotations },
    ...(wish.owner !== undefined && { ownerReferences: [wish.owner] }),
  },
  spec: {
    replicas: wish.replicas ?? 2,
    deletePolicy: 'Oldest',
    selector: { matchLabels: { 'machine.openshift.io/cluster-api-machineset': name } },
    template: {
      metadata: { labels: { 'machine.openshift.io/cluster-api-machineset': name, ...wish.machineLabels } },
      spec: {
        metadata: { labels: { 'node-role.kubernetes.io/infra': '' } },
        taints: [{ key: 'infra', effect: 'NoSchedule' }],
        lifecycleHooks: {},
        providerSpec: { value: providerSpec },
      },
    },
  },
});

export const addMachineSet = (
  name: string,
  providerSpec: JsonObject,
  wish?: MachineSetOptions,
): Promise<Stored<MachineSet>> => cluster.client.create(machineSets, buildMachineSet(name, providerSpec, wish));

export const machineSet = (name: string): Promise<Stored<MachineSet>> =>
  cluster.client.get(machineSets, { namespace: places.machineApi, name });

export const providerSpecOf = ({ spec }: MachineSet): Record<string, unknown> | undefined =>
  spec?.template?.spec?.providerSpec?.value;

export const gcpImage = (version: string): string =>
  `projects/rhcos-cloud/global/images/rhcos-${version.replaceAll('.', '-')}-gcp-x86-64`;
export const readGcpImage = (set: MachineSet): string | undefined =>
  (providerSpecOf(set)?.['disks'] as { image?: string }[] | undefined)?.[0]?.image;

/** An object as JSON text, without metadata that changes on every write, our annotations, and the fields at `paths`. */
export function withoutOurs(object: Stored<KubeObject>, ...paths: readonly (readonly string[])[]): string {
  const copy = structuredClone(object);
  for (const key of ['resourceVersion', 'generation', 'managedFields']) Reflect.deleteProperty(copy.metadata, key);
  for (const key of ['slipway.dev/boot-image', 'slipway.dev/boot-image-before'])
    Reflect.deleteProperty(copy.metadata.annotations ?? {}, key);
  for (const path of paths) {
    let at: unknown = copy;
    for (const key of path.slice(0, -1)) at = Reflect.get(Object(at), key);
    Reflect.set(Object(at), path.at(-1) ?? '', 'taken out');
  }
  return JSON.stringify(copy);
}

/** Cluster API's own controllers set it on everything that has no MachineDeployment as its owner. */
const CLUSTER_OWNER = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'demo-x7k2p', uid: '1' };

/** As a tool without a bootstrap provider creates it, and Cluster API's controllers complete it. */
export const buildClusterApiSet = (
  name: string,
  template: { kind: string; apiVersion: string; name: string },
  { labels = {}, annotations = {}, owner = CLUSTER_OWNER }: MachineSetOptions = {},
): ClusterApiMachineSet & MachineDeployment => ({
  metadata: {
    name,
    namespace: places.clusterApi,
    labels: { 'cluster.x-k8s.io/cluster-name': 'demo-x7k2p', ...labels },
    annotations: { 'example.com/team': 'a', ...annotations },
    ownerReferences: [owner],
  },
  spec: {
    clusterName: 'demo-x7k2p',
    replicas: 2,
    selector: { matchLabels: { 'example.com/set': name } },
    template: {
      metadata: { labels: { 'example.com/set': name } },
      spec: {
        clusterName: 'demo-x7k2p',
        bootstrap: { dataSecretName: 'worker-user-data' },
        infrastructureRef: { ...template, namespace: places.clusterApi },
        nodeDrainTimeout: '10m',
      },
    },
  },
});

export const clusterApiSet = (name: string): Promise<Stored<ClusterApiMachineSet>> =>
  cluster.client.get(clusterApiMachineSets, { namespace: places.clusterApi, name });

export const untilVerdict = (
  { verdict }: Running,
  name: string,
  expected: Partial<NonNullable<ReturnType<Running['verdict']>>>,
): Promise<void> =>
  until(() => {
    expect({ name, ...verdict(name) }).toMatchObject({ name, ...expected });
  });

/** Every write to a MachineSet, in order, such as `patch a 200`. */
export const setWrites = async ({ writes }: Running): Promise<string[]> =>
  (await writes())
    .filter(({ resource }) => resource === 'machinesets')
    .map(({ verb, name, code }) => `${verb} ${name.split('/')[1] ?? ''} ${code}`);
