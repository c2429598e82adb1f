import {
  type MachineConfig,
  type MachineConfigNode,
  machineConfigNodes,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  type Node,
  type NodeCondition,
  nodes,
  pinAssignmentAnnotation,
  type PinnedImageSet,
  pinnedImageSets,
  poolLabel,
} from '@slipway/api';
import { pinConditions } from '@slipway/fleet';
import type { Read, Source, Stored } from '@slipway/kube';

// Sources that are the same share one informer, so those that several controllers read stand here.

/** MachineConfigs as they were given, whole: users' and built-in ones. Not the rendered ones, which are large and many. */
export const givenMachineConfigs: Source<MachineConfig> = {
  resource: machineConfigs,
  as: 'full',
  labelSelector: `!${poolLabel}`,
};

/** What was rendered: that it is there, for which pool, and whether it is in use. */
export const renderedMachineConfigs: Source<MachineConfig> = {
  resource: machineConfigs,
  as: 'metadata',
  labelSelector: poolLabel,
};

// Nodes as the controllers of a rollout see them: one watch for all of them.

const ourAnnotation = /^(machineconfiguration\.openshift\.io|slipway\.dev)\//;
const keptConditions: ReadonlySet<string> = new Set(['Ready', 'DiskPressure', 'NetworkUnavailable']);

/** There are thousands, of 10 kB and more, and kubelets write to them all the time. Sources with this function share a store. */
function keepWhatDecides({ metadata, spec, status }: Stored<Node>): Stored<Node> {
  const osImage = status?.nodeInfo?.osImage;
  return {
    metadata: keptOf(metadata),
    spec: { ...(spec?.unschedulable === true && { unschedulable: true }) },
    status: {
      conditions: (status?.conditions ?? []).filter(({ type }) => keptConditions.has(type)).map(withoutHeartbeat),
      ...(osImage !== undefined && { nodeInfo: { osImage } }),
    },
  };
}

function keptOf({ name, uid, resourceVersion, ...rest }: Stored<Node>['metadata']): Stored<Node>['metadata'] {
  const { creationTimestamp, deletionTimestamp, labels = {}, annotations = {} } = rest;
  const ours = Object.entries(annotations).filter(([key]) => ourAnnotation.test(key));
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

export const fleetNodes: Source<Node> = { resource: nodes, as: 'full', expect: 'many', project: keepWhatDecides };

// What the controllers of pinned images watch. Sources with the same function share a store.

/** Its images are for the machines: here their names would only take memory. */
export const imageSets: Source<PinnedImageSet> = { resource: pinnedImageSets, as: 'metadata' };

/** There are thousands, and their messages change all the time: what is kept changes when a machine has come further. */
function keepPins({ metadata, spec, status }: Stored<MachineConfigNode>): Stored<MachineConfigNode> {
  const { name, uid, resourceVersion, annotations } = metadata;
  const told = annotations?.[pinAssignmentAnnotation];
  const { pinnedImageSets: reported, conditions = [] } = status ?? {};
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(told !== undefined && { annotations: { [pinAssignmentAnnotation]: told } }),
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

export const everyPool = (_: unknown, read: Read): string[] =>
  [...read(machineConfigPools).values()].map(({ metadata }) => metadata.name);

/** One that is being deleted is as good as gone. */
export const setsIn = (read: Read): Stored<PinnedImageSet>[] =>
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

export const poolNames = (read: Read): string[] =>
  [...read(machineConfigPools).values()].map(({ metadata }) => metadata.name);
