// Writes a snapshot into Secrets: chunks first, index last.
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
 * Makes sure that the chunks exist. Another engine's gzip of the same content differs in bytes, perhaps also in the
 * number of chunks, and the two must not be mixed: an existing complete set (of `known` chunks) stays.
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

/** An existing Secret with that name is not part of a complete set: it is damaged, or from an unfinished write. */
async function putChunk({ client, write }: Pick<Context, 'client' | 'write'>, chunk: Secret): Promise<void> {
  const { name, namespace = '' } = chunk.metadata;
  const before = await client.find(secrets, { name, namespace });
  if (before !== undefined) await deleteSecret(write, before);
  await write.create(secrets, chunk);
}

/** Annotations of the previous index that no longer apply. */
const cleared: Record<string, null> = Object.fromEntries(Object.values(indexAnnotations).map((name) => [name, null]));

/**
 * A merge patch, not server-side apply: an index is created and never applied, so that every version of it was read by
 * us first, and an apply would never remove what a create set.
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

/** Deletes it whatever other clients wrote to it since. */
export const deleteSecret = (write: Writer, { metadata }: Stored<Secret>): Promise<void> =>
  write.remove(secrets, anyVersion(metadata));
