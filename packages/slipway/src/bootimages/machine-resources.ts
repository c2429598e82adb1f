// Everything of a cluster that makes machines. Nothing here writes.
import {
  bootImageCanaryLabel,
  type ClusterApiMachineSet,
  clusterApiMachineSets,
  type MachineDeployment,
  machineDeployments,
  type MachineSet,
  machineSets,
} from '@slipway/api';
import type { MachineResource } from '@slipway/fleet/boot-images';
import { type Client, isKubeError, type KubeObject, type Resource, type Stored } from '@slipway/kube';

export interface MachineNamespaces {
  readonly machineApiNamespace: string;
  readonly clusterApiNamespace: string;
}

export interface Machines {
  readonly machineSets: readonly Stored<MachineSet>[];
  readonly clusterApiMachineSets: readonly Stored<ClusterApiMachineSet>[];
  readonly machineDeployments: readonly Stored<MachineDeployment>[];
}

export async function readMachines(client: Client, namespaces: MachineNamespaces): Promise<Machines> {
  const { machineApiNamespace, clusterApiNamespace } = namespaces;
  const [ofMachineApi, ofClusterApi, deployments] = await Promise.all([
    listWhereKnown(client, machineSets, machineApiNamespace),
    listWhereKnown(client, clusterApiMachineSets, clusterApiNamespace),
    listWhereKnown(client, machineDeployments, clusterApiNamespace),
  ]);
  return {
    machineSets: ofMachineApi.filter(isNoCanary),
    clusterApiMachineSets: ofClusterApi,
    machineDeployments: deployments,
  };
}

/** One machine that tries an image for another set is no set of anybody. */
const isNoCanary = ({ metadata }: MachineSet): boolean => metadata.labels?.[bootImageCanaryLabel] === undefined;

/** A kind that the cluster does not have counts as one of which there are none. */
async function listWhereKnown<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  namespace: string,
): Promise<Stored<T>[]> {
  try {
    return await Array.fromAsync(client.list(resource, { namespace }));
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) throw error;
    return [];
  }
}

type Named = Pick<KubeObject, 'metadata'>;

/** How each of them is called in a verdict. */
export const ofMachineApi = ({ metadata }: Named): MachineResource => ({
  api: 'machine.openshift.io',
  kind: 'MachineSet',
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});

export const ofClusterApi =
  (kind: MachineResource['kind']) =>
  ({ metadata }: Named): MachineResource => ({
    api: 'cluster.x-k8s.io',
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  });

export const allResources = (machines: Machines): MachineResource[] => [
  ...machines.machineSets.map(ofMachineApi),
  ...machines.clusterApiMachineSets.map(ofClusterApi('MachineSet')),
  ...machines.machineDeployments.map(ofClusterApi('MachineDeployment')),
];
