import { encodeDataUrl } from './data-url.ts';

export interface GunzipLimits {
  /** Unpacking stops at this unpacked size. */
  maxBytes: number;
  /** Unpacked bytes per packed byte. Real text stays below 60; only crafted data approaches gzip's maximum of 1032. */
  maxRatio?: number;
}

export type Gunzipped =
  | { ok: true; bytes: Uint8Array }
  | {
      ok: false;
      reason: 'too-large' | 'bomb' | 'malformed';
      problem: string;
      /** The bytes that were unpacked until then. */
      size: number;
    };

/** How a file's bytes are encoded in a config. */
export interface EncodedContents {
  source: string;
  compression?: 'gzip';
}

const MEBIBYTE = 1024 * 1024;
const DEFAULT_MAX_RATIO = 200;
/** Small inputs may have any ratio: 100 kB of zeros do no harm. */
const RATIO_COUNTS_FROM = MEBIBYTE;
/** Below this size, gzip's header and base64 cost more than compression saves. */
const WORTH_GZIP = 1024;
/** The length that `"compression":"gzip",` adds to the config. */
const COMPRESSION_FIELD = 21;
const GZIP_MAGIC = [0x1f, 0x8b];
const GZIP_OS_BYTE = 9;
const GZIP_OS_UNKNOWN = 255;

/** gzip without any trace of the machine: no time, no name, no operating system. */
export async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = await collect(stream(bytes).pipeThrough(new CompressionStream('gzip')));
  packed[GZIP_OS_BYTE] = GZIP_OS_UNKNOWN;
  return packed;
}

/**
 * Unpacks, but never keeps more than the limit (and one chunk): the size is input and cannot be trusted.
 * Accepts one gzip member only, as the web's DecompressionStream does: several are refused as malformed.
 */
export async function gunzip(packed: Uint8Array, limits: GunzipLimits): Promise<Gunzipped> {
  const maxRatio = limits.maxRatio ?? DEFAULT_MAX_RATIO;
  const reader = stream(packed).pipeThrough(new DecompressionStream('gzip')).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.byteLength;
      const refusal = gunzipRefusal(size, packed.byteLength, limits.maxBytes, maxRatio);
      if (refusal !== null) {
        await reader.cancel();
        return refusal;
      }
      chunks.push(next.value);
    }
  } catch {
    // The engines describe the cause differently.
    const isGzip = packed[0] === GZIP_MAGIC[0] && packed[1] === GZIP_MAGIC[1];
    const problem = isGzip ? 'the gzip data is damaged, incomplete or in several parts' : 'the data is not gzip';
    return { ok: false, reason: 'malformed', problem, size };
  }
  return { ok: true, bytes: concat(chunks, size) };
}

/**
 * The shortest encoding of these bytes in a config: plain, base64, or gzip in base64.
 * The engine chooses the deflate bytes, so another engine may return another (equally valid) string.
 */
export async function encodeContents(bytes: Uint8Array): Promise<EncodedContents> {
  const source = encodeDataUrl(bytes);
  if (bytes.byteLength < WORTH_GZIP) return { source };
  const packed = encodeDataUrl(await gzip(bytes));
  return packed.length + COMPRESSION_FIELD < source.length ? { source: packed, compression: 'gzip' } : { source };
}

function gunzipRefusal(size: number, packed: number, maxBytes: number, maxRatio: number): Gunzipped | null {
  if (size > maxBytes) {
    const problem = `it unpacks to more than the limit of ${formatSize(maxBytes)}`;
    return { ok: false, reason: 'too-large', problem, size };
  }
  if (size > RATIO_COUNTS_FROM && size > packed * maxRatio) {
    return {
      ok: false,
      reason: 'bomb',
      problem: `it unpacks to more than ${maxRatio} times its size of ${packed} bytes, which real contents never do`,
      size,
    };
  }
  return null;
}

const formatSize = (bytes: number): string => (bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE} MiB` : `${bytes} bytes`);

function stream(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
}

async function collect(source: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    size += chunk.byteLength;
  }
  return concat(chunks, size);
}

function concat(chunks: Uint8Array[], size: number): Uint8Array {
  const only = chunks.length === 1 ? chunks[0] : undefined;
  if (only !== undefined) return only;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
