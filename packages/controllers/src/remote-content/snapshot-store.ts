// How a snapshot gets into Secrets: its chunks first, its index last.
import { type MachineConfig, type Secret, secrets } from '@slipway/api';
import type { PackedSnapshot } from '@slipway/fleet';
import {
  chunkName,
  indexAnnotations,
  indexMetadata,
  type IndexOutcome,
  loadSnapshot,
  remoteContentLabel,
  type Snapshot,
} from '@slipway/fleet/remote-content';
import { type Client, isKubeError, type Stored } from '@slipway/kube';

const fieldManager = 'slipway-remote-content';

/**
 * Sees to it that the chunks are there. Another engine's gzip of the same content has other bytes, perhaps in another
 * number of chunks, and the two must not be mixed: a whole set that is there already (`known` says of how many) stays.
 */
export async function storeChunks(
  client: Client,
  namespace: string,
  { digest, chunks }: PackedSnapshot,
  known: number | undefined,
): Promise<Snapshot> {
  for (const count of new Set([chunks.length, known ?? chunks.length])) {
    const there = await loadSnapshot(client, namespace, { digest, chunks: count });
    if (there.ok) return { digest, chunks: count };
  }
  for (const [number, chunk] of chunks.entries()) {
    const annotations = { [indexAnnotations.digest]: digest, [indexAnnotations.chunks]: String(chunks.length) };
    await putChunk(client, {
      metadata: {
        name: chunkName(digest, number),
        namespace,
        labels: { [remoteContentLabel]: 'chunk' },
        annotations,
      },
      immutable: true,
      data: { chunk: Buffer.from(chunk).toString('base64') },
    });
  }
  return { digest, chunks: chunks.length };
}

/** What has that name already is no part of a whole set: damaged, or left from a write that was never finished. */
async function putChunk(client: Client, chunk: Secret): Promise<void> {
  const { name, namespace = '' } = chunk.metadata;
  const before = await client.find(secrets, { name, namespace });
  if (before !== undefined) await deleteSecret(client, before);
  await client.create(secrets, chunk, { fieldManager });
}

/** What an index of before said, and says no more. */
const cleared: Record<string, null> = Object.fromEntries(Object.values(indexAnnotations).map((name) => [name, null]));

/**
 * A merge patch and not server-side apply: an index is created and never applied, so that no version of it can exist
 * without our having read it, and what a create sets an apply would never remove.
 */
export async function writeIndex(
  client: Client,
  namespace: string,
  machineConfig: MachineConfig,
  found: Stored<Secret> | undefined,
  outcome: IndexOutcome,
): Promise<void> {
  const metadata = indexMetadata(machineConfig, outcome);
  if (found === undefined) {
    await client.create(secrets, { metadata: { ...metadata, namespace } }, { fieldManager });
    return;
  }
  const { labels, annotations } = metadata;
  const { uid, resourceVersion, name } = found.metadata;
  const body = { metadata: { labels, annotations: { ...cleared, ...annotations } } };
  await client.patch(secrets, { namespace, name }, { type: 'merge', body }, { uid, resourceVersion }, { fieldManager });
}

export async function deleteSecret(client: Client, { metadata }: Stored<Secret>): Promise<void> {
  const { name, namespace = '', uid } = metadata;
  try {
    await client.delete(secrets, { name, namespace }, { uid });
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND', 'SLW_KUBE_CONFLICT')) throw error;
  }
}
