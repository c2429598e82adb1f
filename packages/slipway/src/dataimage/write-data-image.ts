import { type DataImage, dataImages } from '@slipway/api';
import { type Client, isKubeError, type Stored } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import type { HostName } from './find-host.ts';

export interface Wish {
  readonly url: string;
  readonly immediate: boolean;
}

/** Others write to it too: what they did in between is looked at before it is tried again. */
const MAX_TRIES = 5;
const written = { fieldManager: 'slipway' };

export interface Written {
  readonly image: Stored<DataImage>;
  /** Whether it had to be written. */
  readonly changed: boolean;
}

/** Makes the DataImage of a host, or brings it to the wish. */
export async function writeDataImage(client: Client, host: HostName, wish: Wish): Promise<Written> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await tryWrite(client, host, wish);
    } catch (error) {
      if (tries >= MAX_TRIES || !isKubeError(error, 'SLW_KUBE_CONFLICT', 'SLW_KUBE_ALREADY_EXISTS')) throw error;
    }
  }
}

async function tryWrite(client: Client, host: HostName, { url, immediate }: Wish): Promise<Written> {
  const before = await client.find(dataImages, host);
  if (before === undefined) {
    const spec = { url, ...(immediate ? { immediate } : {}) };
    return { image: await client.create(dataImages, { metadata: { ...host }, spec }, written), changed: true };
  }
  refuseDeleting(before);
  if (before.spec?.url === url && (before.spec.immediate === true) === immediate) {
    return { image: before, changed: false };
  }
  const { uid, resourceVersion } = before.metadata;
  // What somebody wanted at once before is not what is wanted at once now.
  const body = { spec: { url, immediate: immediate || null } };
  const image = await client.patch(dataImages, host, { type: 'merge', body }, { uid, resourceVersion }, written);
  return { image, changed: true };
}

function refuseDeleting({ metadata, spec }: Stored<DataImage>): void {
  if (metadata.deletionTimestamp === undefined) return;
  const { namespace = '', name } = metadata;
  throw new CommandError(
    'SLW_CLI_DATA_IMAGE',
    `DataImage ${namespace}/${name} is being deleted, and nothing can be attached before it is gone: ${spec?.url ?? 'its ISO'} is taken out when the host is next powered off. ` +
      `slipway dataimage detach ${name} --namespace ${namespace} --reboot --wait does that; then run this again`,
  );
}
