// Reads a fleet from a cluster. Nothing here writes.
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
  clusterImages,
  missingBuiltIn,
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
  progress('reading pools and MachineConfigs');
  const listedPools = whereInstalled(client, () => Array.fromAsync(client.list(machineConfigPools)));
  const [pools, members, given, settings, images, streams] = await Promise.all([
    listedPools,
    // Takes longest, so it starts with the first.
    readAll(client.list(nodes), slimNode, (count) => progress(`reading nodes: ${count}`)),
    readMachineConfigs(client, options, listedPools),
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
  /** Without rendered ones; includes the built-in ones, even if the cluster does not have them yet. */
  readonly machineConfigs: readonly MachineConfig[];
  readonly controllerVersion: string;
  /** What was assumed, one line each. */
  readonly notes: readonly string[];
}

/** The MachineConfigs that pools are rendered from. */
export async function readMachineConfigs(
  client: Client,
  options: RenderOptions,
  pools: readonly MachineConfigPool[] | Promise<readonly MachineConfigPool[]>,
): Promise<SourceMachineConfigs> {
  const listed = await Array.fromAsync(client.list(machineConfigs, { labelSelector: `!${poolLabel}` }));
  const given = listed.filter(({ metadata }) => !metadata.name.startsWith(RENDERED_PREFIX));
  const controllerVersion = options.controllerVersion ?? versionIn(given);
  const fleet = { machineConfigs: given, pools: await pools };
  const missing = missingBuiltIn(fleet, { controllerVersion, daemonImage: options.daemonImage });
  return {
    machineConfigs: [...given, ...missing],
    controllerVersion,
    notes: missing.map(
      ({ metadata }) =>
        `assumed: MachineConfig ${metadata.name} is not in the cluster yet, so the plan uses the built-in one (version ${controllerVersion})`,
    ),
  };
}

/** The controllers of the cluster will render, so their version counts, not the version of this program. */
function versionIn(given: readonly MachineConfig[]): string {
  const versions = given.map(({ metadata }) => metadata.annotations?.[generatedByAnnotation]);
  return versions.find((each) => each !== undefined) ?? version;
}

/** Null: pools follow no stream, or reading is forbidden; then there is a note. */
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
        `these credentials may not read OS image streams, so the plan assumes that there are none: ${error.message}`,
      ],
    };
  }
}

/** Only the rendered configs that pools and machines use: the cluster may have many more. Deleted ones are left out. */
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
    progress(`reading rendered configs: ${found.size} of ${names.size}`);
    const config = await client.find(machineConfigs, { name });
    if (config?.spec !== undefined) found.set(name, config.spec);
  }
  return found;
}

export interface ClusterPods {
  /** Null: listing them is forbidden; then there is a note. */
  readonly pods: readonly EvictedPod[] | null;
  readonly budgets: readonly PodDisruptionBudget[] | null;
  readonly notes: readonly string[];
}

/** Only one page is in memory at a time: a pod is about 10 kB, and a cluster may have a hundred thousand. */
const PODS_PER_PAGE = 500;

/** Pods on these nodes. A user who may not list pods still gets a plan. */
export async function readPods(client: Client, drained: ReadonlySet<string>, progress: Progress): Promise<ClusterPods> {
  const notes: string[] = [];
  const unlessForbidden = async <T>(what: string, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
      notes.push(`these credentials may not list ${what}: ${error.message}`);
      return null;
    }
  };
  const evicted = (pod: Parameters<typeof evictedPod>[0]): EvictedPod | null => {
    const made = evictedPod(pod);
    return made !== null && drained.has(made.node) ? made : null;
  };
  return {
    pods: await unlessForbidden('pods', () =>
      readAll(client.list(pods, { pageSize: PODS_PER_PAGE }), evicted, (count) => progress(`reading pods: ${count}`)),
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

/** Null: no leader, it is not on a node, or reading is forbidden. Then only the place of this node in the order may differ. */
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

/** The holder is named after its host: the pod, or the node if the pod uses the host network. '' if there is no leader. */
async function leadersHost(client: Client, namespace: string): Promise<string> {
  const lease = await client.find(leases, { namespace, name: 'slipway-controllers' });
  return lease?.spec?.holderIdentity?.split('_')[0] ?? '';
}

async function nodeOfPod(client: Client, namespace: string, name: string): Promise<string | null> {
  if (name === '') return null;
  return (await client.find(pods, { namespace, name }))?.spec?.nodeName ?? null;
}
