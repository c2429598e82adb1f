// Writes to hosts and DataImages: each lands on the very version that it was decided on, or not at all.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages } from '@slipway/api';
import { type Client, isKubeError, type Key, type Read, type Resource, type Stored } from '@slipway/kube';
import { createFreshness, type Freshness } from '../freshness.ts';

const fieldManager = 'slipway-data-images';
/** How often somebody else may be faster. */
const MOST_TRIES = 10;

type Written = BareMetalHost | DataImage;

export interface Writer {
  patch<T extends Written>(resource: Resource<T>, object: Stored<T>, body: object, client: Client): Promise<Stored<T>>;
  patchStatus<T extends Written>(
    resource: Resource<T>,
    object: Stored<T>,
    status: object,
    client: Client,
  ): Promise<Stored<T>>;
  /** Replaces what we have written there before, whatever has become of the rest. Fine where it is not there any more. */
  replaceAnnotation<T extends Written>(
    resource: Resource<T>,
    object: Stored<T>,
    annotation: { readonly name: string; readonly from: string | undefined; readonly to: string },
    client: Client,
  ): Promise<void>;
  /** The watch has not brought what was written last: what it shows was decided on before. */
  isBehind(key: Key, read: Read): boolean;
}

export function createWriter(): Writer {
  const fresh = createFreshness();
  return {
    patch: (resource, object, body, client) => patch(fresh, resource, object, body, client),
    patchStatus: (resource, object, status, client) => patch(fresh, resource, object, { status }, client, 'status'),
    async replaceAnnotation(resource, object, { name, from, to }, client) {
      const body = { metadata: { annotations: { [name]: to } } };
      let seen: Stored<typeof object> | undefined = object;
      for (let tries = 1; seen !== undefined && seen.metadata.annotations?.[name] === from; tries += 1) {
        try {
          await patch(fresh, resource, seen, body, client);
          return;
        } catch (error) {
          if (tries === MOST_TRIES || !isKubeError(error, 'SLW_KUBE_CONFLICT')) throw error;
          seen = await client.find(resource, object.metadata);
        }
      }
    },
    isBehind: (key, read) =>
      fresh.isBehind(bareMetalHosts.kind, read(bareMetalHosts), key) ||
      fresh.isBehind(dataImages.kind, read(dataImages), key),
  };
}

async function patch<T extends Written>(
  fresh: Freshness,
  resource: Resource<T>,
  object: Stored<T>,
  body: object,
  client: Client,
  subresource?: 'status',
): Promise<Stored<T>> {
  const { uid, resourceVersion } = object.metadata;
  const options = { fieldManager, ...(subresource !== undefined && { subresource }) };
  const written = await client.patch(
    resource,
    object.metadata,
    { type: 'merge', body },
    { uid, resourceVersion },
    options,
  );
  fresh.wrote(resource.kind, written);
  return written;
}
