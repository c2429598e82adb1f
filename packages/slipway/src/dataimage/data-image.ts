// Reads and writes BareMetalHosts and their DataImages.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages } from '@slipway/api';
import { nearNames } from '@slipway/base/near-names';
import { REBOOT_ANNOTATION } from '@slipway/fleet/hosts';
import { hostEntry } from '@slipway/fleet/reports';
import { anyVersion, type Client, isKubeError, type Stored } from '@slipway/kube';
import { createCliWriter } from '../cli/cluster.ts';
import { CommandError } from '../cli/errors.ts';

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

/** Reports a cluster without the Metal3 kinds. */
export async function knowing<T>(client: Client, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
    throw new CommandError(
      'SLW_CLI_NOT_INSTALLED',
      `${client.transport.server} does not serve baremetalhosts and dataimages of metal3.io. Check --kubeconfig and --context, or install the CRDs with: slipway install`,
      { cause: error },
    );
  }
}

/** Users forget the namespace more often than the name. */
export async function noSuchHost(client: Client, { namespace, name }: HostName): Promise<CommandError> {
  const all = await allHosts(client);
  return new CommandError(
    'SLW_CLI_NO_HOST',
    `namespace ${namespace} has no BareMetalHost ${name}. ${formatHint({ namespace, name }, all)}`,
  );
}

function formatHint({ namespace, name }: HostName, all: readonly HostName[]): string {
  const elsewhere = all.filter((host) => host.name === name).map((host) => host.namespace);
  if (elsewhere.length > 0) return `There is one in ${elsewhere.join(', ')}; use --namespace ${elsewhere[0]}`;
  const here = all.filter((host) => host.namespace === namespace).map((host) => host.name);
  const near = nearNames(name, here);
  return near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'List all hosts with: kubectl get baremetalhosts -A';
}

async function allHosts(client: Client): Promise<HostName[]> {
  try {
    const found = await Array.fromAsync(client.list(bareMetalHosts));
    return found.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }));
  } catch (error) {
    // A user without access to other namespaces gets no hint.
    if (isKubeError(error, 'SLW_KUBE_FORBIDDEN')) return [];
    throw error;
  }
}

export interface DataImageRequest {
  readonly url: string;
  readonly immediate: boolean;
}

/** Other clients write to it too, so each try reads it again. */
const MAX_TRIES = 5;

export interface DataImageWriteResult {
  readonly image: Stored<DataImage>;
  /** Whether it had to be written. */
  readonly changed: boolean;
}

/** Creates the DataImage of a host, or updates it to the request. */
export async function writeDataImage(
  client: Client,
  host: HostName,
  request: DataImageRequest,
): Promise<DataImageWriteResult> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await tryWrite(client, host, request);
    } catch (error) {
      if (tries >= MAX_TRIES || !isKubeError(error, 'SLW_KUBE_CONFLICT', 'SLW_KUBE_ALREADY_EXISTS')) throw error;
    }
  }
}

async function tryWrite(
  client: Client,
  host: HostName,
  { url, immediate }: DataImageRequest,
): Promise<DataImageWriteResult> {
  const write = createCliWriter(client);
  const before = await client.find(dataImages, host);
  if (before === undefined) {
    const spec = { url, ...(immediate ? { immediate } : {}) };
    return { image: await write.create(dataImages, { metadata: { ...host }, spec }), changed: true };
  }
  refuseDeleting(before);
  if (before.spec?.url === url && (before.spec.immediate === true) === immediate) {
    return { image: before, changed: false };
  }
  // `immediate` applied to the previous URL, so it is removed unless it is requested again.
  const image = await write.patch(dataImages, before, { spec: { url, immediate: immediate || null } });
  return { image, changed: true };
}

function refuseDeleting({ metadata, spec }: Stored<DataImage>): void {
  if (metadata.deletionTimestamp === undefined) return;
  const { namespace = '', name } = metadata;
  throw new CommandError(
    'SLW_CLI_DATA_IMAGE',
    `DataImage ${namespace}/${name} is being deleted. ${spec?.url ?? 'Its ISO'} is detached when the host is next powered off, and only then can another ISO be attached. ` +
      `To do that now, run slipway dataimage detach ${name} --namespace ${namespace} --reboot --wait, then run this command again`,
  );
}

/** A host that is off or shutting down needs no reboot: its drive changes before it is switched on. */
export function needsReboot(host: BareMetalHost): boolean {
  const { isOn, shallBeOn } = hostEntry(host);
  return isOn && shallBeOn;
}

/** `done` describes what is already written if this fails. The OS shuts down gracefully; after 3 minutes power is cut. */
export async function requestReboot(client: Client, host: Stored<BareMetalHost>, done: string): Promise<void> {
  const { metadata, spec } = host;
  const { name, namespace = '' } = metadata;
  if (spec?.disablePowerOff === true) {
    throw new CommandError(
      'SLW_CLI_DATA_IMAGE',
      `${done}, but no reboot was requested: spec.disablePowerOff of BareMetalHost ${namespace}/${name} is true, so it is never switched off. Power cycle it manually, or use spec.immediate (slipway dataimage attach --immediate) if the hardware supports it`,
    );
  }
  const body = { metadata: { annotations: { [REBOOT_ANNOTATION]: '' } } };
  try {
    await createCliWriter(client).patch(bareMetalHosts, anyVersion(metadata), body);
  } catch (error) {
    throw new CommandError(
      'SLW_CLI_DATA_IMAGE',
      `${done}, but no reboot was requested: ${error instanceof Error ? error.message : String(error)}. A user who may change the host can reboot it with: kubectl annotate -n ${namespace} bmh ${name} ${REBOOT_ANNOTATION}=`,
      { cause: error },
    );
  }
}
