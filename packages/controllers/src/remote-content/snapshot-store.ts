// A resolved config as it is kept: its canonical JSON, named by its digest, gzip in pieces that fit into Secrets.
import { type MachineConfig, type Secret, secrets } from '@slipway/api';
import { canonicalJson } from '@slipway/fleet';
import { gunzip, gzip } from '@slipway/ignition';
import { type Client, isKubeError, type Stored } from '@slipway/kube';
import {
  chunkName,
  indexAnnotations,
  indexMetadata,
  type IndexOutcome,
  loadSnapshot,
  remoteContentLabel,
  type Snapshot,
} from './index-secret.ts';

/** Base64 makes 933 kB of it, which one object of the API may have; etcd takes 1.5 MiB in a request. */
export const chunkBytes = 700_000;

/** Far above what a fetch may bring; what says to be more was not written by us. */
export const maxChunks = 200;
const maxUnpackedBytes = 256 * 1024 * 1024;
/** Above gzip's own bound: the digest says whether it is ours, and 10 MB of zeros are a fine file. */
const anyRatio = 2000;

export interface PackedSnapshot {
  /** SHA-256 of the canonical JSON, in hex. Not of the gzip bytes: those are the engine's own. */
  digest: string;
  chunks: Uint8Array[];
}

export async function packSnapshot(config: unknown): Promise<PackedSnapshot> {
  const text = textOf(config);
  const packed = await gzip(text);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < packed.byteLength; at += chunkBytes) chunks.push(packed.subarray(at, at + chunkBytes));
  return { digest: await digestOf(text), chunks };
}

export const snapshotDigest = (config: unknown): Promise<string> => digestOf(textOf(config));

export type Unpacked = { ok: true; config: unknown } | { ok: false; problem: string };

/** The config that was packed under this digest; anything else is refused. */
export async function unpackSnapshot(digest: string, chunks: readonly Uint8Array[]): Promise<Unpacked> {
  const text = await gunzip(Buffer.concat(chunks), { maxBytes: maxUnpackedBytes, maxRatio: anyRatio });
  if (!text.ok) return { ok: false, problem: text.problem };
  const found = await digestOf(text.bytes);
  if (found !== digest) return { ok: false, problem: `its contents have the digest ${found}, expected ${digest}` };
  return { ok: true, config: JSON.parse(new TextDecoder().decode(text.bytes)) };
}

const textOf = (config: unknown): Uint8Array => new TextEncoder().encode(canonicalJson(config));

async function digestOf(text: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(text))).toHex();
}

// How a snapshot gets into Secrets: its chunks first, its index last.

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
