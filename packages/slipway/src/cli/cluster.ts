// What commands read from a cluster, and the writer they change it with.
import {
  clusterVersions,
  featureGates,
  type MachineConfigNode,
  type MachineConfigPool,
  machineConfigNodes,
  machineConfigPools,
  machineConfigurations,
  nodes,
  type OSImageStream,
  osImageStreams,
  SINGLETON_NAME,
} from '@slipway/api';
import { nearNames } from '@slipway/base/near-names';
import { type FeatureGateName, type GateFinding, resolveFeatureGates } from '@slipway/fleet';
import { byName, type FleetSnapshot, slimNode } from '@slipway/fleet/reports';
import {
  type Client,
  createInformer,
  createWriter,
  isKubeError,
  type KubeObject,
  type Name,
  type Resource,
  type Stored,
  type Writer,
} from '@slipway/kube';
import { CommandError } from './errors.ts';
import type { LiveSource, WatchOptions } from './live.ts';

/** Lists each kind once; writes nothing. */
export async function readFleet(client: Client, signal?: AbortSignal): Promise<FleetSnapshot> {
  const [pools, ofNodes, records, machineConfiguration] = await whereInstalled(client, () =>
    Promise.all([
      listed(client, machineConfigPools, (pool) => pool, signal),
      listed(client, nodes, slimNode, signal),
      listed(client, machineConfigNodes, (record) => record, signal),
      client.find(machineConfigurations, { name: SINGLETON_NAME }, { signal }),
    ]),
  );
  return {
    pools: pools.sort(byName),
    nodes: ofNodes.sort(byName),
    machineConfigNodes: new Map(records.map((record): [string, MachineConfigNode] => [record.metadata.name, record])),
    machineConfiguration,
  };
}

/** Reports a cluster without our kinds as "not installed". */
export async function whereInstalled<T>({ transport }: Client, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) throw error;
    throw new CommandError(
      'SLW_CLI_NOT_INSTALLED',
      `${transport.server} does not serve machineconfigpools: Slipway is not installed there. Check --kubeconfig and --context, or install it with: slipway install`,
      { cause: error },
    );
  }
}

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

/** Like readFleet, but kept up to date by watches. */
export function watchFleet({ transport }: Client, { signal, onChange }: WatchOptions): LiveSource<FleetSnapshot> {
  // A user is watching the screen, so back off for a short time only.
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
      machineConfiguration: settings.store.get(SINGLETON_NAME),
    }),
    problem() {
      const found = all.map((informer) => informer.problem).find((each) => each instanceof Error);
      return found?.message ?? null;
    },
  };
}

/** Throws if a requested pool does not exist. */
export function checkPools<T extends Pick<FleetSnapshot, 'pools'>>(fleet: T, asked: readonly string[]): T {
  const names = fleet.pools.map(({ metadata }) => metadata.name);
  for (const name of asked) if (!names.includes(name)) throw noSuchPool(name, names);
  return fleet;
}

export async function readPool(client: Client, name: string): Promise<Stored<MachineConfigPool>> {
  const pool = await client.find(machineConfigPools, { name });
  if (pool !== undefined) return pool;
  const names: string[] = [];
  for await (const { metadata } of client.list(machineConfigPools)) names.push(metadata.name);
  throw noSuchPool(name, names);
}

export function noSuchPool(asked: string, names: readonly string[]): CommandError {
  const near = nearNames(asked, names);
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `Existing pools: ${names.join(', ') || 'none'}`;
  return new CommandError('SLW_CLI_NO_POOL', `the cluster has no MachineConfigPool ${asked}. ${hint}`);
}

/** Treats a kind that the cluster does not serve as an object that does not exist. */
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

/** Whether a gated part of Slipway is on. Null: the cluster has no FeatureGate, so the flags of its controllers decide. */
export async function readGate(client: Client, name: FeatureGateName): Promise<GateFinding | null> {
  const featureGate = await findWhereKnown(client, featureGates, { name: SINGLETON_NAME });
  if (featureGate === undefined) return null;
  const clusterVersion = await findWhereKnown(client, clusterVersions, { name: 'version' });
  const { on, because } = resolveFeatureGates({ featureGate, clusterVersion, flags: {} })[name];
  return { isOn: on, because };
}

export const findOsImageStream = (client: Client): Promise<OSImageStream | undefined> =>
  findWhereKnown(client, osImageStreams, { name: SINGLETON_NAME });

/** Notes the user's command as the owner of the fields that it sets. */
export const createCliWriter = (client: Client): Writer => createWriter(client, { fieldManager: 'slipway' });
