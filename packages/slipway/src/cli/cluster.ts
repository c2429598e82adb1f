import {
  clusterVersions,
  featureGates,
  type MachineConfigNode,
  machineConfigNodes,
  machineConfigPools,
  machineConfigurations,
  nodes,
  type OSImageStream,
  osImageStreams,
} from '@slipway/api';
import { type FeatureGateName, type GateFinding, resolveFeatureGates } from '@slipway/fleet';
import { byName, type FleetNow, machineConfigurationName, slimNode } from '@slipway/fleet/reports';
import {
  type Client,
  createInformer,
  isKubeError,
  type KubeObject,
  type Name,
  type Resource,
  type Stored,
  type Transport,
} from '@slipway/kube';
import { CommandError, nearNames } from './errors.ts';
import type { Followed } from './live.ts';

/** Reads only, a list of each kind. */
export async function readFleet(client: Client, signal?: AbortSignal): Promise<FleetNow> {
  try {
    const [pools, ofNodes, records, machineConfiguration] = await Promise.all([
      listed(client, machineConfigPools, (pool) => pool, signal),
      listed(client, nodes, slimNode, signal),
      listed(client, machineConfigNodes, (record) => record, signal),
      client.find(machineConfigurations, { name: machineConfigurationName }, { signal }),
    ]);
    return {
      pools: pools.sort(byName),
      nodes: ofNodes.sort(byName),
      machineConfigNodes: new Map(records.map((record): [string, MachineConfigNode] => [record.metadata.name, record])),
      machineConfiguration,
    };
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) throw error;
    throw notInstalled(client.transport.server, error);
  }
}

export const notInstalled = (server: string, cause?: unknown): CommandError =>
  new CommandError(
    'SLW_CLI_NOT_INSTALLED',
    `${server} does not serve machineconfigpools: Slipway is not installed there. Check --kubeconfig and --context, or install it: slipway install`,
    { cause },
  );

async function listed<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  keep: (object: Stored<T>) => Stored<T>,
  signal: AbortSignal | undefined,
): Promise<Stored<T>[]> {
  const objects: Stored<T>[] = [];
  for await (const object of client.list(resource, { signal })) objects.push(keep(object));
  return objects;
}

// The same as readFleet, kept up to date.

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

export function watchFleet(transport: Transport, { signal, onChange }: WatchOptions): Followed<FleetNow> {
  // A person waits in front of it.
  const shared = { longestBackoffMs: 5000, onProblem: onChange } as const;
  const pools = createInformer(transport, { resource: machineConfigPools, ...shared });
  const machines = createInformer(transport, { resource: nodes, expect: 'many', project: slimNode, ...shared });
  const records = createInformer(transport, { resource: machineConfigNodes, expect: 'many', ...shared });
  const settings = createInformer(transport, { resource: machineConfigurations, ...shared });
  const all = [pools, machines, records, settings];
  for (const informer of all) {
    informer.onChange(onChange);
    informer.start(signal);
  }
  return {
    synced: Promise.all(all.map(({ synced }) => synced)),
    now: () => ({
      pools: [...pools.store.values()].sort(byName),
      nodes: [...machines.store.values()].sort(byName),
      machineConfigNodes: new Map([...records.store.values()].map((record) => [record.metadata.name, record])),
      machineConfiguration: settings.store.get(machineConfigurationName),
    }),
    problem() {
      const found = all.map((informer) => informer.problem).find((each) => each instanceof Error);
      return found?.message ?? null;
    },
  };
}

/** The pools that were named; null where none was, which means all. */
export function namedPools({ pools }: Pick<FleetNow, 'pools'>, asked: readonly string[]): ReadonlySet<string> | null {
  const names = pools.map(({ metadata }) => metadata.name);
  for (const name of asked) if (!names.includes(name)) throw noSuchPool(name, names);
  return asked.length === 0 ? null : new Set(asked);
}

export function noSuchPool(asked: string, names: readonly string[]): CommandError {
  const near = nearNames(asked, names);
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `There are ${names.join(', ') || 'no pools'}`;
  return new CommandError('SLW_CLI_NO_POOL', `the cluster has no MachineConfigPool ${asked}. ${hint}`);
}

/** A kind that the cluster does not have counts as an object that is not there. */
export async function findWhereKnown<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: Name,
): Promise<Stored<T> | undefined> {
  try {
    return await client.find(resource, name);
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
    return undefined;
  }
}

// Whether a part of Slipway runs in a cluster, as the cluster says it. Nothing here writes.

/** Null: the cluster has no FeatureGate, so it is for its controllers' flags to say. */
export async function readGate(client: Client, name: FeatureGateName): Promise<GateFinding | null> {
  const featureGate = await findWhereKnown(client, featureGates, { name: 'cluster' });
  if (featureGate === undefined) return null;
  const clusterVersion = await findWhereKnown(client, clusterVersions, { name: 'version' });
  const { on, because } = resolveFeatureGates({ featureGate, clusterVersion, flags: {} })[name];
  return { isOn: on, because };
}

// What a cluster says of OS image streams. Nothing here writes.

/** There is one, of this name. */
export const osImageStreamName = 'cluster';

export const findOsImageStream = (client: Client): Promise<OSImageStream | undefined> =>
  findWhereKnown(client, osImageStreams, { name: osImageStreamName });
