// A fleet out of a cluster. Nothing here writes.
import {
  configMaps,
  generatedByAnnotation,
  type MachineConfig,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  type Node,
  nodes,
  OS_IMAGES_CONFIG_MAP,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods,
  poolLabel,
  RENDERED_PREFIX,
  SINGLETON_NAME,
  targetConfigAnnotation,
} from '@slipway/api';
import {
  builtInMachineConfigs,
  clusterImages,
  namedImages,
  readNodeFacts,
  type PlannedConfig,
  runningIn,
  type Streams,
  toStreams,
} from '@slipway/fleet';
import { type EvictedPod, evictedPod, type FleetState, type Machines } from '@slipway/fleet/plan';
import { slimNode } from '@slipway/fleet/reports';
import { type Client, isKubeError, type KubeObject, type Resource, type Stored } from '@slipway/kube';
import { findOsImageStream, readGate, whereInstalled } from '../cli/cluster.ts';
import type { Progress } from '../cli/io.ts';
import type { RenderOptions } from '../cli/options.ts';
import { version } from '../cli/program.ts';

export interface ClusterFleet {
  readonly state: FleetState;
  readonly machines: Machines;
  readonly notes: readonly string[];
}

export async function readCluster(client: Client, options: RenderOptions, progress: Progress): Promise<ClusterFleet> {
  const { namespace } = options;
  progress('reads pools and MachineConfigs');
  const [pools, members, given, settings, images, streams] = await Promise.all([
    whereInstalled(client, () => Array.fromAsync(client.list(machineConfigPools))),
    // The longest of all: it begins with the first.
    readAll(client.list(nodes), slimNode, (count) => progress(`reads nodes: ${count}`)),
    readMachineConfigs(client, options),
    client.find(machineConfigurations, { name: SINGLETON_NAME }),
    client.find(configMaps, { name: OS_IMAGES_CONFIG_MAP, namespace }),
    readStreams(client),
  ]);
  const own = await controllerNode(client, namespace, new Set(members.map(({ metadata }) => metadata.name)));
  const rendered = await readRendered(client, pools, members, progress);
  return {
    state: {
      pools,
      machineConfigs: given.machineConfigs,
      settings,
      osImages: clusterImages(images?.data, namedImages(options)),
      streams: streams.found,
      running: runningIn({ pools, nodes: members, rendered, streams: streams.found }),
      controllerVersion: given.controllerVersion,
    },
    machines: { nodes: members, rendered, controllerNode: own },
    notes: [...streams.notes, ...given.notes],
  };
}

interface SourceMachineConfigs {
  /** Without rendered ones; with those of the operator, whether or not the cluster has them yet. */
  readonly machineConfigs: readonly MachineConfig[];
  readonly controllerVersion: string;
  /** What was assumed, a line each. */
  readonly notes: readonly string[];
}

/** What pools are rendered from. */
export async function readMachineConfigs(client: Client, options: RenderOptions): Promise<SourceMachineConfigs> {
  const listed = await Array.fromAsync(client.list(machineConfigs, { labelSelector: `!${poolLabel}` }));
  const given = listed.filter(({ metadata }) => !metadata.name.startsWith(RENDERED_PREFIX));
  const controllerVersion = options.controllerVersion ?? versionIn(given);
  const missing = builtInMachineConfigs({ controllerVersion, daemonImage: options.daemonImage }).filter(
    ({ metadata }) => !given.some((each) => each.metadata.name === metadata.name),
  );
  return {
    machineConfigs: [...given, ...missing],
    controllerVersion,
    notes: missing.map(
      ({ metadata }) =>
        `assumed: MachineConfig ${metadata.name}: not in the cluster yet; this program’s own is used (version ${controllerVersion})`,
    ),
  };
}

/** The controllers that run there are those that will render, whatever version this program has. */
function versionIn(given: readonly MachineConfig[]): string {
  const versions = given.map(({ metadata }) => metadata.annotations?.[generatedByAnnotation]);
  return versions.find((each) => each !== undefined) ?? version;
}

/** Null: pools follow none, or one may not look; then a note says so. */
async function readStreams(client: Client): Promise<{ found: Streams | null; notes: string[] }> {
  try {
    const object = await findOsImageStream(client);
    const gate = object === undefined ? null : await readGate(client, 'OSStreams');
    return { found: object === undefined || gate?.isOn === false ? null : toStreams(object), notes: [] };
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
    return {
      found: null,
      notes: [
        `OS image streams may not be read with these credentials, so pools are planned as if there were none: ${error.message}`,
      ],
    };
  }
}

/** Those that pools are at and machines have: a few, where the cluster may hold many. One that is gone is left out. */
async function readRendered(
  client: Client,
  pools: readonly MachineConfigPool[],
  members: readonly Node[],
  progress: Progress,
): Promise<Map<string, PlannedConfig['spec']>> {
  const names = new Set([
    ...pools.flatMap(({ metadata, spec }) => [
      spec.configuration?.name,
      metadata.annotations?.[targetConfigAnnotation],
    ]),
    ...members.map((node) => readNodeFacts(node).current),
  ]);
  const found = new Map<string, PlannedConfig['spec']>();
  for (const name of names) {
    if (name === undefined || name === null || name === '') continue;
    progress(`reads rendered configs: ${found.size} of ${names.size}`);
    const config = await client.find(machineConfigs, { name });
    if (config?.spec !== undefined) found.set(name, config.spec);
  }
  return found;
}

export interface ClusterPods {
  /** Null: they may not be listed; the notes say so. */
  readonly pods: readonly EvictedPod[] | null;
  readonly budgets: readonly PodDisruptionBudget[] | null;
  readonly notes: readonly string[];
}

/** Of pages, one is held at a time: a pod has some 10 kB, and a cluster a hundred thousand of them. */
const PODS_PER_PAGE = 500;

/** Pods on these nodes. Who may not list pods still gets a plan. */
export async function readPods(client: Client, drained: ReadonlySet<string>, progress: Progress): Promise<ClusterPods> {
  const notes: string[] = [];
  const unlessForbidden = async <T>(what: string, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
      notes.push(`${what} may not be listed with these credentials: ${error.message}`);
      return null;
    }
  };
  const evicted = (pod: Parameters<typeof evictedPod>[0]): EvictedPod | null => {
    const made = evictedPod(pod);
    return made !== null && drained.has(made.node) ? made : null;
  };
  return {
    pods: await unlessForbidden('pods', () =>
      readAll(client.list(pods, { pageSize: PODS_PER_PAGE }), evicted, (count) => progress(`reads pods: ${count}`)),
    ),
    budgets: await unlessForbidden('PodDisruptionBudgets', () => Array.fromAsync(client.list(podDisruptionBudgets))),
    notes,
  };
}

async function readAll<T extends KubeObject, R>(
  listed: AsyncIterable<Stored<T>>,
  keep: (object: Stored<T>) => R | null,
  tell: (count: number) => void,
): Promise<R[]> {
  const kept: R[] = [];
  let count = 0;
  for await (const object of listed) {
    const made = keep(object);
    if (made !== null) kept.push(made);
    count += 1;
    tell(count);
  }
  return kept;
}

const leases: Resource<KubeObject & { spec?: { holderIdentity?: string } }> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** Null: nobody leads, or not on a node, or one may not look. Then the order of turns may differ by this one node. */
async function controllerNode(
  client: Client,
  namespace: string,
  nodeNames: ReadonlySet<string>,
): Promise<string | null> {
  try {
    const host = await leadersHost(client, namespace);
    return nodeNames.has(host) ? host : await nodeOfPod(client, namespace, host);
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
    return null;
  }
}

/** The leader signs with the name of its host: its pod, or with the host's network the node. '' where nobody leads. */
async function leadersHost(client: Client, namespace: string): Promise<string> {
  const lease = await client.find(leases, { namespace, name: 'slipway-controllers' });
  return lease?.spec?.holderIdentity?.split('_')[0] ?? '';
}

async function nodeOfPod(client: Client, namespace: string, name: string): Promise<string | null> {
  if (name === '') return null;
  return (await client.find(pods, { namespace, name }))?.spec?.nodeName ?? null;
}
