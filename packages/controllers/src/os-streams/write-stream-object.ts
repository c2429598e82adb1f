// OSImageStream `cluster`, in as many writes as it takes, in an order that a kill between two of them does not harm.
import { type OSImageStream, osImageStreams } from '@slipway/api';
import { canonicalJson } from '@slipway/fleet';
import type { WantedStreamObject } from '@slipway/fleet/stream-discovery';
import type { Client, Stored } from '@slipway/kube';
import { CLUSTER } from './stream-reads.ts';

const fieldManager = 'slipway-os-streams';

/** Gives what was written last; undefined: it was as wanted. */
export async function writeStreamObject(
  current: Stored<OSImageStream> | undefined,
  wanted: WantedStreamObject,
  client: Client,
): Promise<Stored<OSImageStream> | undefined> {
  if (current === undefined) return patchStatus(await create(wanted, client), wanted, client);
  // Status first: a default in spec must be one of the streams of the status. And the digest of the sources comes with the
  // last write: until then all of it is done again.
  const withStatus = isEqual(current.status, wanted.status) ? undefined : await patchStatus(current, wanted, client);
  const before = withStatus ?? current;
  return hasRest(before, wanted) ? withStatus : patchRest(before, wanted, client);
}

/** Without status it counts for nothing, whatever its annotations say. */
function create({ spec, annotations }: WantedStreamObject, client: Client): Promise<Stored<OSImageStream>> {
  const kept = Object.fromEntries(
    Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  return client.create(osImageStreams, { metadata: { name: CLUSTER, annotations: kept }, spec }, { fieldManager });
}

function patchStatus(
  { metadata }: Stored<OSImageStream>,
  { status }: WantedStreamObject,
  client: Client,
): Promise<Stored<OSImageStream>> {
  const { uid, resourceVersion } = metadata;
  // A merge patch puts a list whole in place of the old one.
  const patch = { type: 'merge', body: { status } } as const;
  return client.patch(
    osImageStreams,
    metadata,
    patch,
    { uid, resourceVersion },
    { subresource: 'status', fieldManager },
  );
}

function patchRest(
  { metadata }: Stored<OSImageStream>,
  { spec, annotations }: WantedStreamObject,
  client: Client,
): Promise<Stored<OSImageStream>> {
  const { uid, resourceVersion } = metadata;
  const patch = { type: 'merge', body: { metadata: { annotations }, spec } } as const;
  return client.patch(osImageStreams, metadata, patch, { uid, resourceVersion }, { fieldManager });
}

const hasRest = ({ metadata, spec }: Stored<OSImageStream>, wanted: WantedStreamObject): boolean =>
  spec.defaultStream === wanted.spec.defaultStream &&
  Object.entries(wanted.annotations).every(([key, value]) => (metadata.annotations?.[key] ?? null) === value);

const isEqual = (a: unknown, b: unknown): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null);
