// The stored form of a resolved config: canonical JSON, named by its digest, gzipped in chunks that fit into Secrets.
import { gunzip, gzip } from '@slipway/ignition';
import { canonicalJson } from './rendered-name.ts';

/** 933 kB as base64, which fits into one API object; etcd accepts requests of 1.5 MiB. */
export const CHUNK_BYTES = 700_000;

/** Far more than a fetch can return: Slipway never writes more. */
export const MAX_CHUNKS = 200;
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/** Above the maximum of gzip: the digest proves the origin, and 10 MB of zeros are a valid file. */
const ANY_RATIO = 2000;

export interface PackedSnapshot {
  /** SHA-256 of the canonical JSON, in hex. Not of the gzip bytes, which depend on the engine. */
  digest: string;
  chunks: Uint8Array[];
}

export async function packSnapshot(config: unknown): Promise<PackedSnapshot> {
  const text = encodeConfig(config);
  const packed = await gzip(text);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < packed.byteLength; at += CHUNK_BYTES) chunks.push(packed.subarray(at, at + CHUNK_BYTES));
  return { digest: await computeDigest(text), chunks };
}

export const snapshotDigest = (config: unknown): Promise<string> => computeDigest(encodeConfig(config));

export type Unpacked = { ok: true; config: unknown } | { ok: false; problem: string };

/** The config that was packed under this digest; anything else is refused. */
export async function unpackSnapshot(digest: string, chunks: readonly Uint8Array[]): Promise<Unpacked> {
  const text = await gunzip(Buffer.concat(chunks), { maxBytes: MAX_UNPACKED_BYTES, maxRatio: ANY_RATIO });
  if (!text.ok) return { ok: false, problem: text.problem };
  const found = await computeDigest(text.bytes);
  if (found !== digest) return { ok: false, problem: `expected contents with digest ${digest}, found ${found}` };
  return { ok: true, config: JSON.parse(new TextDecoder().decode(text.bytes)) };
}

const encodeConfig = (config: unknown): Uint8Array => new TextEncoder().encode(canonicalJson(config));

async function computeDigest(text: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(text))).toHex();
}
