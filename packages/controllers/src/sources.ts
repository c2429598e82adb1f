import {
  type ClusterVersion,
  clusterVersions,
  type ConfigMap,
  configMaps,
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
import { configMapPair, toImagePair, type StreamSources } from '@slipway/fleet/stream-discovery';
import type { StoreReader, Source, Stored } from '@slipway/kube';

// Sources that are the same share one informer, so those that several controllers read stand here.

/** MachineConfigs as they were given, whole: users' and built-in ones. Not the rendered ones, which are large and many. */
export const sourceMachineConfigs: Source<MachineConfig> = {
  resource: machineConfigs,
  as: 'full',
  labelSelector: `!${poolLabel}`,
};

/** What was rendered: that it is there, for which pool, and whether it is in use. It concerns its pool. */
export const renderedMachineConfigs: Source<MachineConfig> = {
  resource: machineConfigs,
  as: 'metadata',
  labelSelector: poolLabel,
  keysOf: ({ metadata }) => [metadata.labels?.[poolLabel] ?? ''],
};

// Nodes as the controllers of a rollout see them: one watch for all of them.

const OUR_ANNOTATION = /^(machineconfiguration\.openshift\.io|slipway\.dev)\//;
const keptConditions: ReadonlySet<string> = new Set(['Ready', 'DiskPressure', 'NetworkUnavailable']);

/** There are thousands, of 10 kB and more, and kubelets write to them all the time. Sources with this function share a store. */
function keepNodeFields({ metadata, spec, status }: Stored<Node>): Stored<Node> {
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
  const ours = Object.entries(annotations).filter(([key]) => OUR_ANNOTATION.test(key));
  return {
    name,
    uid,
    resourceVersion,
    labels,
    annotations: Object.fromEntries(ours),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  };
}

const withoutHeartbeat = ({ lastHeartbeatTime: _heartbeat, ...condition }: NodeCondition): NodeCondition => condition;

export const fleetNodes: Source<Node> = { resource: nodes, as: 'full', expect: 'many', project: keepNodeFields };

// What the controllers of pinned images watch. Sources with the same function share a store.

/** Its images are for the machines: here their names would only take memory. */
export const imageSets: Source<PinnedImageSet> = { resource: pinnedImageSets, as: 'metadata' };

/** There are thousands, and their messages change all the time: what is kept changes when a machine has come further. */
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

/** One that is being deleted is as good as gone. */
export const listImageSets = (read: StoreReader): Stored<PinnedImageSet>[] =>
  [...read(pinnedImageSets).values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);

/**
 * Which pools there are, and nothing more: the version is replaced by one that never changes, so that the many updates
 * of a pool's status in a rollout wake nobody here.
 */
export const poolSource = {
  resource: machineConfigPools,
  as: 'metadata',
  project: ({ metadata: { name, uid } }: Stored<MachineConfigPool>): Stored<MachineConfigPool> => ({
    metadata: { name, uid, resourceVersion: uid },
    spec: {},
  }),
} satisfies Source<MachineConfigPool>;

export const listPoolNames = (read: StoreReader): string[] =>
  [...read(machineConfigPools).values()].map(({ metadata }) => metadata.name);

// What the controllers of OS image streams watch, and how the sources of a cluster are read out of it.

export interface SourceOptions {
  /** Ours: where the ConfigMap with the OS images lives. */
  readonly namespace: string;
  /** Flags; below the ConfigMap. */
  readonly osImage?: string | undefined;
  readonly osExtensionsImage?: string | undefined;
  /** Where there is no ClusterVersion. */
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

/** What the streams of this cluster come from now. Reads the ConfigMap and the ClusterVersion. */
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

// What the status of a pool is to say of its OS image stream.

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
  return { reason: 'OSImageStreamInvalid', message };
}
