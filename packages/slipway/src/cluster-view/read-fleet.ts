import {
  type MachineConfigNode,
  machineConfigNodes,
  machineConfigPools,
  machineConfigurations,
  nodes,
} from '@slipway/api';
import { byName, type FleetNow, machineConfigurationName, slimNode } from '@slipway/fleet/reports';
import { type Client, isKubeError, type KubeObject, type Resource, type Stored } from '@slipway/kube';
import { CommandError } from '../errors.ts';

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
