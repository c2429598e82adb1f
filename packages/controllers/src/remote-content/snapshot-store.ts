// How a snapshot gets into Secrets: its chunks first, its index last.
import { type MachineConfig, type Secret, secrets } from '@slipway/api';
import type { PackedSnapshot } from '@slipway/fleet';
import {
  chunkName,
  indexAnnotations,
  indexMetadata,
  type IndexOutcome,
  loadSnapshot,
  REMOTE_CONTENT_LABEL,
  type Snapshot,
} from '@slipway/fleet/remote-content';
import { anyVersion, type Context, type Stored, type Writer } from '@slipway/kube';

/**
 * Sees to it that the chunks are there. Another engine's gzip of the same content has other bytes, perhaps in another
 * number of chunks, and the two must not be mixed: a whole set that is there already (`known` says of how many) stays.
 */
export async function storeChunks(
  context: Pick<Context, 'client' | 'write'>,
  namespace: string,
  { digest, chunks }: PackedSnapshot,
  known: number | undefined,
): Promise<Snapshot> {
  for (const count of new Set([chunks.length, known ?? chunks.length])) {
    const there = await loadSnapshot(context.client, namespace, { digest, chunks: count });
    if (there.ok) return { digest, chunks: count };
  }
  for (const [number, chunk] of chunks.entries()) {
    const annotations = { [indexAnnotations.digest]: digest, [indexAnnotations.chunks]: String(chunks.length) };
    await putChunk(context, {
      metadata: {
        name: chunkName(digest, number),
        namespace,
        labels: { [REMOTE_CONTENT_LABEL]: 'chunk' },
        annotations,
      },
      immutable: true,
      data: { chunk: Buffer.from(chunk).toString('base64') },
    });
  }
  return { digest, chunks: chunks.length };
}

/** What has that name already is no part of a whole set: damaged, or left from a write that was never finished. */
async function putChunk({ client, write }: Pick<Context, 'client' | 'write'>, chunk: Secret): Promise<void> {
  const { name, namespace = '' } = chunk.metadata;
  const before = await client.find(secrets, { name, namespace });
  if (before !== undefined) await deleteSecret(write, before);
  await write.create(secrets, chunk);
}

/** What an index of before said, and says no more. */
const cleared: Record<string, null> = Object.fromEntries(Object.values(indexAnnotations).map((name) => [name, null]));

/**
 * A merge patch and not server-side apply: an index is created and never applied, so that no version of it can exist
 * without our having read it, and what a create sets an apply would never remove.
 */
export async function writeIndex(
  write: Writer,
  namespace: string,
  machineConfig: MachineConfig,
  found: Stored<Secret> | undefined,
  outcome: IndexOutcome,
): Promise<void> {
  const metadata = indexMetadata(machineConfig, outcome);
  if (found === undefined) {
    await write.create(secrets, { metadata: { ...metadata, namespace } });
    return;
  }
  const { labels, annotations } = metadata;
  await write.patch(secrets, found, { metadata: { labels, annotations: { ...cleared, ...annotations } } });
}

/** Whatever others have written to it since. */
export const deleteSecret = (write: Writer, { metadata }: Stored<Secret>): Promise<void> =>
  write.remove(secrets, anyVersion(metadata));
