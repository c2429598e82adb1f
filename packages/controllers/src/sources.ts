import {
  type ClusterVersion,
  clusterVersions,
  type ConfigMap,
  configMaps,
  type Infrastructure,
  infrastructures,
  type MachineConfig,
  type MachineConfigNode,
  machineConfigNodes,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  type Node,
  type NodeCondition,
  nodes,
  OS_IMAGES_CONFIG_MAP,
  type OSImageStream,
  osImageStreams,
  osStreamAnnotation,
  osStreamProblemAnnotation,
  pinAssignmentAnnotation,
  type PinnedImageSet,
  pinnedImageSets,
  poolLabel,
  type Secret,
  secrets,
  SINGLETON_NAME,
} from '@slipway/api';
import {
  decodeProblems,
  formatProblems,
  pinConditions,
  type PoolStatusInput,
  toStreams,
  readTrackedStream,
} from '@slipway/fleet';
import { machineAnnotations } from '@slipway/fleet/drain';
import { configMapPair, toImagePair, type StreamSources } from '@slipway/fleet/stream-discovery';
import type { StoreReader, Source, Stored } from '@slipway/kube';

// Sources that several controllers read. Equal sources share one informer.

/** MachineConfigs of users and built-in ones, in full. Not the rendered ones, which are large and many. */
export const sourceMachineConfigs: Source<MachineConfig> = {
  resource: machineConfigs,
  as: 'full',
  labelSelector: `!${poolLabel}`,
};

/** Metadata of rendered configs: existence, pool, and whether they are in use. A change triggers the pool. */
export const renderedMachineConfigs: Source<MachineConfig> = {
  resource: machineConfigs,
  as: 'metadata',
  labelSelector: poolLabel,
  keysOf: ({ metadata }) => [metadata.labels?.[poolLabel] ?? ''],
};

// Nodes for the rollout controllers: one watch for all of them.

const OUR_ANNOTATION = /^(machineconfiguration\.openshift\.io|slipway\.dev)\//;
const keptConditions: ReadonlySet<string> = new Set(['Ready', 'DiskPressure', 'NetworkUnavailable']);

/**
 * There are thousands, of 10 kB and more, and kubelets update them all the time. Sources with this function share a
 * store.
 */
export function keepNodeFields({ metadata, spec, status }: Stored<Node>): Stored<Node> {
  const osImage = status?.nodeInfo?.osImage;
  return {
    metadata: keepNodeMetadata(metadata),
    spec: { ...(spec?.unschedulable === true && { unschedulable: true }) },
    status: {
      conditions: (status?.conditions ?? []).filter(({ type }) => keptConditions.has(type)).map(withoutHeartbeat),
      ...(osImage !== undefined && { nodeInfo: { osImage } }),
    },
  };
}

function keepNodeMetadata({ name, uid, resourceVersion, ...rest }: Stored<Node>['metadata']): Stored<Node>['metadata'] {
  const { creationTimestamp, deletionTimestamp, labels = {}, annotations = {} } = rest;
  const kept = Object.entries(annotations).filter(([key]) => OUR_ANNOTATION.test(key) || machineAnnotations.has(key));
  return {
    name,
    uid,
    resourceVersion,
    labels,
    annotations: Object.fromEntries(kept),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  };
}

const withoutHeartbeat = ({ lastHeartbeatTime: _heartbeat, ...condition }: NodeCondition): NodeCondition => condition;

export const fleetNodes: Source<Node> = { resource: nodes, as: 'full', expect: 'many', project: keepNodeFields };

// What the controllers of pinned images watch. Sources with the same function share a store.

/** Drops the image names, which only machines need: here they would only use memory. */
export const imageSets: Source<PinnedImageSet> = { resource: pinnedImageSets, as: 'metadata' };

/** There are thousands, and their messages change all the time: stores only what changes when a machine progresses. */
function keepPins({ metadata, spec, status }: Stored<MachineConfigNode>): Stored<MachineConfigNode> {
  const { name, uid, resourceVersion, annotations } = metadata;
  const assigned = annotations?.[pinAssignmentAnnotation];
  const { pinnedImageSets: reported, conditions = [] } = status ?? {};
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(assigned !== undefined && { annotations: { [pinAssignmentAnnotation]: assigned } }),
    },
    spec,
    status: {
      ...(reported !== undefined && { pinnedImageSets: reported }),
      conditions: conditions.filter(({ type }) => type === pinConditions.degraded),
    },
  };
}

export const pinRecords: Source<MachineConfigNode> = {
  resource: machineConfigNodes,
  expect: 'many',
  project: keepPins,
};

export const everyPool = (_: unknown, read: StoreReader): string[] => listPoolNames(read);

/** An object that is being deleted counts as gone. */
export const listImageSets = (read: StoreReader): Stored<PinnedImageSet>[] =>
  [...read(pinnedImageSets).values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);

/**
 * Which pools exist, and nothing more: the resourceVersion is replaced by a constant, so that the status updates of a
 * rollout trigger nothing here.
 */
export const poolSource = {
  resource: machineConfigPools,
  as: 'metadata',
  project: ({ metadata: { name, uid } }: Stored<MachineConfigPool>): Stored<MachineConfigPool> => ({
    metadata: { name, uid, resourceVersion: uid },
    spec: {},
  }),
} satisfies Source<MachineConfigPool>;

/** On plain Kubernetes there is none. */
export const infrastructureSource: Source<Infrastructure> = {
  resource: infrastructures,
  fieldSelector: `metadata.name=${SINGLETON_NAME}`,
  project: ({ metadata: { name, uid, resourceVersion }, status }) => ({
    metadata: { name, uid, resourceVersion },
    spec: {},
    ...(status !== undefined && { status }),
  }),
};

export const findInfrastructure = (read: StoreReader): Stored<Infrastructure> | undefined =>
  read(infrastructures).get(SINGLETON_NAME);

export const listPoolNames = (read: StoreReader): string[] =>
  [...read(machineConfigPools).values()].map(({ metadata }) => metadata.name);

// What the controllers of OS image streams watch, and how to read the sources of a cluster from it.

export interface SourceOptions {
  /** Slipway's namespace, where the ConfigMap with the OS images is. */
  readonly namespace: string;
  /** Flags, which rank below the ConfigMap. */
  readonly osImage?: string | undefined;
  readonly osExtensionsImage?: string | undefined;
  /** If there is no ClusterVersion. */
  readonly releaseImage?: string | undefined;
}

export const osImageStreamSource: Source<OSImageStream> = {
  resource: osImageStreams,
  fieldSelector: `metadata.name=${SINGLETON_NAME}`,
};

export const clusterVersionSource: Source<ClusterVersion> = {
  resource: clusterVersions,
  fieldSelector: 'metadata.name=version',
};

export const osImagesSource = (namespace: string): Source<ConfigMap> => ({
  resource: configMaps,
  namespace,
  fieldSelector: `metadata.name=${OS_IMAGES_CONFIG_MAP}`,
});

export const pullSecretSource = ({ namespace, name }: { namespace: string; name: string }): Source<Secret> => ({
  resource: secrets,
  namespace,
  fieldSelector: `metadata.name=${name}`,
});

/** The current sources of the cluster's streams. Reads the ConfigMap and the ClusterVersion. */
export function readStreamSources(read: StoreReader, options: SourceOptions): StreamSources {
  const configMap = read(configMaps).get(`${options.namespace}/${OS_IMAGES_CONFIG_MAP}`);
  const image = read(clusterVersions).get('version')?.status?.desired.image ?? '';
  const release = image === '' ? (options.releaseImage ?? '') : image;
  return {
    commandLine: toImagePair(options.osImage, options.osExtensionsImage),
    configMap: configMapPair(configMap?.data),
    release: release === '' ? null : { image: release },
  };
}

export const findStreamObject = (read: StoreReader): Stored<OSImageStream> | undefined =>
  read(osImageStreams).get(SINGLETON_NAME);

// The OS image stream in the status of a pool.

export function readPoolStreamInput(
  { metadata }: MachineConfigPool,
  read: StoreReader,
): NonNullable<PoolStatusInput['osStream']> {
  const object = findStreamObject(read);
  return {
    streamOf: (name) => read(machineConfigs).get(name)?.metadata.annotations?.[osStreamAnnotation] ?? null,
    tracked: readTrackedStream(metadata.annotations),
    streams: object === undefined ? null : toStreams(object),
    problem: parseStreamProblem(metadata.annotations?.[osStreamProblemAnnotation]),
  };
}

function parseStreamProblem(annotation: string | undefined): { reason: string; message: string } | null {
  if (annotation === undefined) return null;
  const { problems } = decodeProblems(annotation);
  const message = formatProblems(problems);
  const isMissing = problems.some(({ code }) => code === 'SLW_STREAM_NO_IMAGE');
  return { reason: isMissing ? 'OSImageMissing' : 'OSImageStreamInvalid', message };
}
