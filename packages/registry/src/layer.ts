// Searches a layer while it is transferred: unpacks and hashes it, and stores nothing.
import { createHash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';
import { extract } from 'tar-stream';
import { checkDigest, checkSize } from './response.ts';
import { type RegistryRequest, RegistryError } from './errors.ts';
import type { FileSearch, Verdict } from './file-search.ts';
import type { Layer } from './registry.ts';

export interface LayerLimits {
  /** Bytes of one layer, uncompressed. */
  readonly mostUnpacked: number;
}

type LayerVerdict = Verdict | { readonly kind: 'damaged'; readonly why: string };

/**
 * Searches a layer while it is transferred. The verdict is returned only if the digest of the whole layer matches, so
 * the layer is always read to its end. Nothing is buffered: the search limits how fast data is read from the
 * connection.
 */
export async function searchLayer(
  body: AsyncIterable<Uint8Array>,
  layer: Layer,
  search: FileSearch,
  limits: LayerLimits,
  asked: RegistryRequest,
): Promise<LayerVerdict> {
  const blob = new BlobReader(body, layer, asked);
  try {
    const why = await unpackInto(search, blob, limits, asked);
    if (why !== undefined) await blob.drain();
    blob.verify();
    return why === undefined ? search.verdict : { kind: 'damaged', why };
  } finally {
    await blob.close();
  }
}

/** Returns why the layer cannot be unpacked. The digest then shows whether the image or the transfer is at fault. */
async function unpackInto(
  search: FileSearch,
  blob: BlobReader,
  limits: LayerLimits,
  asked: RegistryRequest,
): Promise<string | undefined> {
  const archive = searchTar(search);
  let unpacked = 0;
  const scan = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of chunks) {
      unpacked += chunk.length;
      if (unpacked > limits.mostUnpacked) throw tooMuch(limits, asked);
      await archive.write(chunk);
    }
    await archive.end();
  };
  try {
    const unpacker = unpackerFor(await blob.peek(MAGIC_BYTES));
    if (unpacker === undefined) await scan(blob.rest());
    else await pipeline(blob.rest(), unpacker, scan);
    return undefined;
  } catch (error) {
    if (blob.failure !== undefined) throw blob.failure.reason;
    if (error instanceof RegistryError) throw error;
    return error instanceof Error ? error.message : String(error);
  }
}

function tooMuch({ mostUnpacked }: LayerLimits, asked: RegistryRequest): RegistryError {
  const text = `expected at most ${mostUnpacked} bytes when unpacked, found more. Larger layers are not supported`;
  return new RegistryError('SLW_REGISTRY_LIMIT', text, { asked });
}

/** The minimum that distinguishes the formats. */
const MAGIC_BYTES = 4;

/** 32 MB: enough for the usual compression levels. A frame that needs more memory is rejected. */
const MAX_ZSTD_WINDOW_LOG = 25;
const CHUNK_SIZE = 64 * 1024;

const GZIP = /^1f8b/;
/** A frame, or a skippable frame, which some tools write first. */
const ZSTD = /^(28b52ffd|5.2a4d18)/;

/** Detects the compression from the first bytes, because media types are not always right. Undefined: none. */
function unpackerFor(start: Uint8Array): Transform | undefined {
  const magic = Buffer.from(start).toString('hex');
  if (GZIP.test(magic)) return createGunzip({ chunkSize: CHUNK_SIZE });
  if (!ZSTD.test(magic)) return undefined;
  return createZstdDecompress({
    chunkSize: CHUNK_SIZE,
    params: { [constants.ZSTD_d_windowLogMax]: MAX_ZSTD_WINDOW_LOG },
  });
}

/** An archive that is searched while it is read. Only the content that the search needs is stored. */
interface TarSearch {
  /** Resolves when the bytes have been searched. */
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

function searchTar(search: FileSearch): TarSearch {
  const archive = extract();
  let failure: Error | undefined;
  let wake = (): void => {};

  archive.on('entry', (header, content, next) => {
    const chunks: Uint8Array[] = [];
    const isNeeded = search.see(header);
    content.on('data', (chunk) => {
      if (isNeeded && chunk instanceof Uint8Array) chunks.push(chunk);
    });
    content.on('end', () => {
      if (isNeeded) search.take(Buffer.concat(chunks));
      next();
    });
    content.on('error', () => {});
  });
  archive.on('error', (error: Error) => {
    failure = error;
  });
  for (const event of ['drain', 'finish', 'close'] as const) archive.on(event, () => wake());

  const settled = (): Promise<void> =>
    new Promise((resolve, reject) => {
      wake = () => (failure === undefined ? resolve() : reject(failure));
      if (failure !== undefined) reject(failure);
    });

  return {
    async write(chunk) {
      if (failure !== undefined) throw failure;
      if (!archive.write(chunk)) await settled();
    },
    async end() {
      const done = settled();
      archive.end(null);
      await done;
    },
  };
}

/** Counts and hashes the bytes of a blob while they are read. */
class BlobReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #layer: Layer;
  readonly #asked: RegistryRequest;
  readonly #hash = createHash('sha256');
  readonly #peeked: Uint8Array[] = [];
  #size = 0;
  /** The error of the transfer, in contrast to errors of the reader. */
  failure: { readonly reason: unknown } | undefined;

  constructor(body: AsyncIterable<Uint8Array>, layer: Layer, asked: RegistryRequest) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#layer = layer;
    this.#asked = asked;
  }

  async peek(bytes: number): Promise<Uint8Array> {
    for (let size = 0; size < bytes;) {
      const chunk = await this.#next();
      if (chunk === undefined) break;
      this.#peeked.push(chunk);
      size += chunk.length;
    }
    return Buffer.concat(this.#peeked).subarray(0, bytes);
  }

  /** Stopping early does not end the transfer. */
  async *rest(): AsyncGenerator<Uint8Array> {
    yield* this.#peeked.splice(0);
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) yield chunk;
  }

  async drain(): Promise<void> {
    while ((await this.#next()) !== undefined);
  }

  verify(): void {
    checkSize(this.#layer.size, this.#size, this.#asked);
    checkDigest(this.#layer.digest, `sha256:${this.#hash.digest('hex')}`, this.#asked);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.#chunks.next();
      if (done === true) return undefined;
      this.#size += value.length;
      if (this.#size > this.#layer.size) checkSize(this.#layer.size, this.#size, this.#asked);
      this.#hash.update(value);
      return value;
    } catch (reason) {
      this.failure = { reason };
      throw reason;
    }
  }
}
