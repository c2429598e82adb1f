// What the boot image controllers watch. There can be a thousand MachineSets, and a change of shared state triggers all
// of them: the caches store only the fields that decisions depend on, so that other changes trigger nothing.
import {
  bootImageCanaryLabel,
  bootImageHistories,
  type BootImageHistory,
  BOOT_IMAGES_CONFIG_MAP,
  type ClusterApiMachineSet,
  clusterApiMachineSets,
  type ClusterVersion,
  clusterVersions,
  type ConfigMap,
  configMaps,
  customResourceDefinitions,
  infrastructures,
  type MachineConfigPool,
  machineConfigPools,
  type MachineConfiguration,
  machineConfigurations,
  type MachineDeployment,
  machineDeployments,
  type MachineSet,
  machineSets,
  osStreamAnnotation,
  type Secret,
  secrets,
  SINGLETON_NAME,
} from '@slipway/api';
import type { ClusterObjects } from '@slipway/fleet/boot-images';
import type { Gates, KubeObject, Metrics, StoreReader, Source, Stored } from '@slipway/kube';
import type { PoolOsOptions } from '../pool-os.ts';
import { infrastructureSource } from '../sources.ts';
import type { VerdictBoard } from './report-controller.ts';

/** Includes the options for rendering: they decide whether a release has arrived. */
export interface BootImagesOptions extends PoolOsOptions {
  /** Slipway's namespace, where ConfigMap coreos-bootimages is. */
  readonly namespace: string;
  readonly machineApiNamespace: string;
  readonly clusterApiNamespace: string;
  readonly controllerVersion: string;
  /** The same gates as the manager's. */
  readonly gates: Gates;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
  /** Whether one machine must become Ready with a new image before a MachineSet gets it. */
  readonly canary?: boolean | undefined;
  /** Where decisions are published; by default a private board. */
  readonly board?: VerdictBoard | undefined;
}

export const BOOT_IMAGES_GATE = 'ManagedBootImages';
export const FIELD_MANAGER = 'slipway-boot-images';

export type NamespacedSource<T extends KubeObject> = Source<T> & { readonly namespace: string };

type Meta = Stored<KubeObject>['metadata'];

/** Drops managedFields and generation, which change with fields that no controller here reads. */
function keepMetadata({ name, namespace, uid, resourceVersion, ...rest }: Meta): Meta {
  const { creationTimestamp, deletionTimestamp, labels, annotations, ownerReferences } = rest;
  return {
    name,
    uid,
    resourceVersion,
    ...(namespace !== undefined && { namespace }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    ...(ownerReferences !== undefined && { ownerReferences }),
  };
}

/** Replica counts matter only for a canary. */
function keepMachineSet({ metadata, spec, status }: Stored<MachineSet>): Stored<MachineSet> {
  const { authoritativeAPI, readyReplicas } = status ?? {};
  const isCanary = metadata.labels?.[bootImageCanaryLabel] !== undefined;
  return {
    metadata: keepMetadata(metadata),
    ...(spec !== undefined && { spec }),
    status: {
      ...(authoritativeAPI !== undefined && { authoritativeAPI }),
      ...(isCanary && readyReplicas !== undefined && { readyReplicas }),
    },
  };
}

export const machineSetSource = (namespace: string): NamespacedSource<MachineSet> => ({
  resource: machineSets,
  namespace,
  expect: 'many',
  project: keepMachineSet,
});

/** For Cluster API MachineSets: whether the Machine API set of the same name is authoritative. */
function keepAuthority({ metadata, status }: Stored<MachineSet>): Stored<MachineSet> {
  const { name, namespace, uid, resourceVersion } = metadata;
  const { authoritativeAPI } = status ?? {};
  return {
    metadata: { name, uid, resourceVersion, ...(namespace !== undefined && { namespace }) },
    status: authoritativeAPI === undefined ? {} : { authoritativeAPI },
  };
}

export const twinSource = (namespace: string): Source<MachineSet> => ({
  resource: machineSets,
  namespace,
  expect: 'many',
  project: keepAuthority,
});

const keepClusterApiMachineSet = ({
  apiVersion,
  metadata,
  spec,
}: Stored<ClusterApiMachineSet>): Stored<ClusterApiMachineSet> => ({
  ...(apiVersion !== undefined && { apiVersion }),
  metadata: keepMetadata(metadata),
  ...(spec !== undefined && { spec }),
});

export const clusterApiMachineSetSource = (namespace: string): NamespacedSource<ClusterApiMachineSet> => ({
  resource: clusterApiMachineSets,
  namespace,
  expect: 'many',
  project: keepClusterApiMachineSet,
});

const keepMachineDeployment = ({
  apiVersion,
  metadata,
  spec,
}: Stored<MachineDeployment>): Stored<MachineDeployment> => ({
  ...(apiVersion !== undefined && { apiVersion }),
  metadata: keepMetadata(metadata),
  ...(spec !== undefined && { spec }),
});

export const machineDeploymentSource = (namespace: string): NamespacedSource<MachineDeployment> => ({
  resource: machineDeployments,
  namespace,
  expect: 'many',
  project: keepMachineDeployment,
});

/** CRDs of infrastructure providers: their labels name the versions to read templates in. */
export const providerCrds: Source = {
  resource: customResourceDefinitions,
  as: 'metadata',
  labelSelector: 'cluster.x-k8s.io/provider',
};

export const goldenSource = (namespace: string): Source<ConfigMap> => ({
  resource: configMaps,
  namespace,
  fieldSelector: `metadata.name=${BOOT_IMAGES_CONFIG_MAP}`,
});

/** Drops the status, which we write. The generation changes when a user edits the spec. */
const keepOptIn = ({ metadata, spec }: Stored<MachineConfiguration>): Stored<MachineConfiguration> => {
  const { name, uid, resourceVersion, generation } = metadata;
  const { managedBootImages } = spec;
  return {
    metadata: { name, uid, resourceVersion, ...(generation !== undefined && { generation }) },
    spec: managedBootImages === undefined ? {} : { managedBootImages },
  };
};

const optInSource: Source<MachineConfiguration> = {
  resource: machineConfigurations,
  fieldSelector: `metadata.name=${SINGLETON_NAME}`,
  project: keepOptIn,
};

const WORKER = 'worker';

/** A rollout updates a pool all the time; only its stream matters here. */
const keepStream = ({ metadata, spec }: Stored<MachineConfigPool>): Stored<MachineConfigPool> => {
  const { name, uid, resourceVersion, annotations } = metadata;
  const stream = annotations?.[osStreamAnnotation];
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(stream !== undefined && { annotations: { [osStreamAnnotation]: stream } }),
    },
    spec,
  };
};

const workerStreamSource: Source<MachineConfigPool> = {
  resource: machineConfigPools,
  as: 'metadata',
  fieldSelector: `metadata.name=${WORKER}`,
  project: keepStream,
};

/** Name and version of every Secret in the namespace. The content of one is read on demand. */
export const stubSource = (namespace: string): Source<Secret> => ({ resource: secrets, as: 'metadata', namespace });

/** Drops the conditions, which change all the time: only the current and the initial release matter. */
const keepRelease = ({ metadata, spec, status }: Stored<ClusterVersion>): Stored<ClusterVersion> => {
  const { name, uid, resourceVersion } = metadata;
  const kept = { metadata: { name, uid, resourceVersion }, spec };
  if (status === undefined) return kept;
  const { desired, history = [], observedGeneration, versionHash, availableUpdates } = status;
  return {
    ...kept,
    status: { desired, history: history.slice(-1), observedGeneration, versionHash, availableUpdates },
  };
};

export const releaseSource: Source<ClusterVersion> = {
  resource: clusterVersions,
  fieldSelector: 'metadata.name=version',
  project: keepRelease,
};

export const historySource = (
  namespace: string,
  keysOf: NonNullable<Source<BootImageHistory>['keysOf']>,
): Source<BootImageHistory> => ({ resource: bootImageHistories, namespace, expect: 'many', keysOf });

/** The state that all resources share; `keysOf` lists them. */
export const clusterSources = (namespace: string, keysOf: NonNullable<Source['keysOf']>): readonly Source[] => [
  { ...goldenSource(namespace), keysOf },
  { ...optInSource, keysOf },
  { ...infrastructureSource, keysOf },
  { ...releaseSource, keysOf },
  { ...workerStreamSource, keysOf },
];

export interface ReadCluster extends ClusterObjects {
  readonly configMap: ConfigMap | undefined;
}

/** Reads what `clusterSources` watch. */
export const readCluster = (read: StoreReader, namespace: string): ReadCluster => ({
  configMap: read(configMaps).get(`${namespace}/${BOOT_IMAGES_CONFIG_MAP}`),
  machineConfiguration: read(machineConfigurations).get(SINGLETON_NAME),
  infrastructure: read(infrastructures).get(SINGLETON_NAME),
  clusterVersion: read(clusterVersions).get('version'),
  worker: read(machineConfigPools).get(WORKER),
});
