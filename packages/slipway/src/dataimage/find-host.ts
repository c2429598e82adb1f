import { type BareMetalHost, bareMetalHosts } from '@slipway/api';
import { type Client, isKubeError, type Stored } from '@slipway/kube';
import { CommandError, nearNames } from '../cli/errors.ts';

export interface HostName {
  readonly namespace: string;
  readonly name: string;
}

export async function findHost(client: Client, name: HostName): Promise<Stored<BareMetalHost> | undefined> {
  return knowing(client, () => client.find(bareMetalHosts, name));
}

export async function getHost(client: Client, name: HostName): Promise<Stored<BareMetalHost>> {
  return (await findHost(client, name)) ?? Promise.reject(await noSuchHost(client, name));
}

/** A cluster without the kinds of Metal3 is told as such. */
export async function knowing<T>(client: Client, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
    throw new CommandError(
      'SLW_CLI_NOT_INSTALLED',
      `${client.transport.server} does not serve baremetalhosts and dataimages of metal3.io. Check --kubeconfig and --context, or install them: slipway install`,
      { cause: error },
    );
  }
}

/** People forget the namespace more often than the name. */
export async function noSuchHost(client: Client, { namespace, name }: HostName): Promise<CommandError> {
  const all = await allHosts(client);
  return new CommandError(
    'SLW_CLI_NO_HOST',
    `namespace ${namespace} has no BareMetalHost ${name}. ${hintOf({ namespace, name }, all)}`,
  );
}

function hintOf({ namespace, name }: HostName, all: readonly HostName[]): string {
  const elsewhere = all.filter((host) => host.name === name).map((host) => host.namespace);
  if (elsewhere.length > 0) return `There is one in ${elsewhere.join(', ')}: say --namespace ${elsewhere[0]}`;
  const here = all.filter((host) => host.namespace === namespace).map((host) => host.name);
  const near = nearNames(name, here);
  return near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'kubectl get baremetalhosts -A lists what there is';
}

async function allHosts(client: Client): Promise<HostName[]> {
  try {
    const found = await Array.fromAsync(client.list(bareMetalHosts));
    return found.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }));
  } catch (error) {
    // Who may not look into other namespaces gets no hint from there.
    if (isKubeError(error, 'SLW_KUBE_FORBIDDEN')) return [];
    throw error;
  }
}
