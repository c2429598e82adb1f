// Lists the resources that create machines, and finds one by name. Nothing here writes.
import {
  bootImageCanaryLabel,
  bootImageHistories,
  type BootImageHistory,
  type ClusterApiMachineSet,
  clusterApiMachineSets,
  type MachineDeployment,
  machineDeployments,
  type MachineSet,
  machineSets,
} from '@slipway/api';
import { type MachineResource, resourceWords } from '@slipway/fleet/boot-images';
import { type Client, isKubeError, type KubeObject, type Resource, type Stored } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';

export interface MachineNamespaces {
  readonly machineApiNamespace: string;
  readonly clusterApiNamespace: string;
}

export interface Machines {
  /** Without canaries. */
  readonly machineSets: readonly Stored<MachineSet>[];
  readonly canaries: readonly Stored<MachineSet>[];
  readonly clusterApiMachineSets: readonly Stored<ClusterApiMachineSet>[];
  readonly machineDeployments: readonly Stored<MachineDeployment>[];
  readonly histories: readonly Stored<BootImageHistory>[];
}

export async function readMachines(client: Client, namespaces: MachineNamespaces): Promise<Machines> {
  const { machineApiNamespace, clusterApiNamespace } = namespaces;
  const [ofMachineApi, ofClusterApi, deployments, ...histories] = await Promise.all([
    listWhereKnown(client, machineSets, machineApiNamespace),
    listWhereKnown(client, clusterApiMachineSets, clusterApiNamespace),
    listWhereKnown(client, machineDeployments, clusterApiNamespace),
    ...[...new Set([machineApiNamespace, clusterApiNamespace])].map((namespace) =>
      listWhereKnown(client, bootImageHistories, namespace),
    ),
  ]);
  return {
    machineSets: ofMachineApi.filter((set) => !isCanary(set)),
    canaries: ofMachineApi.filter(isCanary),
    clusterApiMachineSets: ofClusterApi,
    machineDeployments: deployments,
    histories: histories.flat(),
  };
}

/** A canary MachineSet only tests an image for another one. */
const isCanary = ({ metadata }: MachineSet): boolean => metadata.labels?.[bootImageCanaryLabel] !== undefined;

/** A kind that the cluster does not serve counts as empty. */
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

type NamedObject = Pick<KubeObject, 'metadata'>;

/** Identifies a resource in a verdict. */
export const ofMachineApi = ({ metadata }: NamedObject): MachineResource => ({
  api: 'machine.openshift.io',
  kind: 'MachineSet',
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});

export const ofClusterApi =
  (kind: MachineResource['kind']) =>
  ({ metadata }: NamedObject): MachineResource => ({
    api: 'cluster.x-k8s.io',
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  });

export function toResource({ api, kind }: MachineResource): Resource {
  if (api === 'machine.openshift.io') return machineSets;
  return kind === 'MachineSet' ? clusterApiMachineSets : machineDeployments;
}

export const allResources = (machines: Machines): MachineResource[] => [
  ...machines.machineSets.map(ofMachineApi),
  ...machines.clusterApiMachineSets.map(ofClusterApi('MachineSet')),
  ...machines.machineDeployments.map(ofClusterApi('MachineDeployment')),
];

export interface Which {
  readonly name: string;
  /** Undefined: any. */
  readonly namespace?: string | undefined;
  readonly api?: 'mapi' | 'capi' | undefined;
}

const apiShortNames = { 'machine.openshift.io': 'mapi', 'cluster.x-k8s.io': 'capi' } as const;

export const isMeant = ({ name, namespace, api }: Which, resource: MachineResource): boolean =>
  resource.name === name &&
  (namespace === undefined || resource.namespace === namespace) &&
  (api === undefined || apiShortNames[resource.api] === api);

/** A MachineSet never has the name of its MachineDeployment, so a name is ambiguous only across the two APIs. */
export function theOne(which: Which, resources: readonly MachineResource[]): MachineResource {
  const [found, ...others] = resources.filter((resource) => isMeant(which, resource));
  if (found === undefined) throw noSuch(which);
  if (others.length === 0) return found;
  const all = [found, ...others].map((each) => `${resourceWords(each)} of ${each.api}`).join(', ');
  throw new CommandError(
    'SLW_CLI_NO_MACHINES',
    `${JSON.stringify(which.name)} is ambiguous: ${all}. Choose one with --api mapi, --api capi or -n NAMESPACE`,
  );
}

export const noSuch = ({ name, namespace, api }: Which): CommandError =>
  new CommandError(
    'SLW_CLI_NO_MACHINES',
    `there is no MachineSet or MachineDeployment ${JSON.stringify(name)}${namespace === undefined ? '' : ` in namespace ${namespace}`}${api === undefined ? '' : ` in ${api === 'mapi' ? 'the Machine API' : 'Cluster API'}`}. List them with: slipway bootimages`,
  );
