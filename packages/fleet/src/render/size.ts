// The stored size of a rendered spec, and how to make it fit.
import { decodeDataUrl, encodeDataUrl, gzip } from '@slipway/ignition';
import type { File, RenderedIgnition } from './ignition.ts';
import { canonicalJson } from './rendered-name.ts';

/** etcd accepts requests of 1.5 MiB; the rest is for the metadata. */
export const MAX_SPEC_BYTES = 1_500_000;

/** Below this, the gzip header costs more than compression saves. */
const WORTH_GZIP = 256;

type Resource = NonNullable<File['contents']>;

/** Go's encoder, and so the API server, writes these as six characters instead of one. */
const ESCAPED_BY_GO = ['<', '>', '&'];
const ESCAPE_COST = 5;

/** The size of a JSON text as the API server stores it. */
export function storedSize(json: string, bytes: number): number {
  let size = bytes;
  for (const character of ESCAPED_BY_GO) {
    for (let at = json.indexOf(character); at >= 0; at = json.indexOf(character, at + 1)) size += ESCAPE_COST;
  }
  return size;
}

export function computeStoredSize(value: unknown): number {
  const json = canonicalJson(value);
  return storedSize(json, new TextEncoder().encode(json).length);
}

/**
 * Compresses file contents, the largest first, until `excess` bytes are saved or nothing shrinks further. A machine
 * sees no difference: Ignition decompresses, and hashes cover the decompressed contents.
 */
export async function compressContents(
  config: RenderedIgnition,
  excess: number,
): Promise<{ config: RenderedIgnition; saved: number }> {
  const files = config.storage?.files ?? [];
  const packed = new Map<Resource, Resource>();
  let saved = 0;
  for (const resource of candidatesIn(files)) {
    if (saved >= excess) break;
    const smaller = await pack(resource);
    const gain = computeStoredSize(resource) - computeStoredSize(smaller);
    if (gain <= 0) continue;
    packed.set(resource, smaller);
    saved += gain;
  }
  const swap = (resource: Resource): Resource => packed.get(resource) ?? resource;
  const rewritten = files.map((file) => {
    const { contents, append } = file;
    if (contents === undefined && append === undefined) return file;
    return withContents(file, contents === undefined ? undefined : swap(contents), append?.map(swap));
  });
  return { config: { ...config, storage: { ...config.storage, files: rewritten } }, saved };
}

function withContents(file: File, contents: Resource | undefined, append: Resource[] | undefined): File {
  return { ...file, ...(contents === undefined ? {} : { contents }), ...(append === undefined ? {} : { append }) };
}

function candidatesIn(files: readonly File[]): Resource[] {
  const all = files.flatMap(({ contents, append = [] }) => (contents === undefined ? append : [contents, ...append]));
  return [...new Set(all)].filter(isWorthPacking).sort((a, b) => lengthOf(b) - lengthOf(a));
}

function isWorthPacking({ source = '', compression = '' }: Resource): boolean {
  return compression === '' && source.length >= WORTH_GZIP && source.startsWith('data:');
}

function lengthOf(resource: Resource): number {
  return resource.source?.length ?? 0;
}

async function pack(resource: Resource): Promise<Resource> {
  const decoded = decodeDataUrl(resource.source ?? '');
  if (!decoded.ok) return resource;
  return { ...resource, source: encodeDataUrl(await gzip(decoded.bytes)), compression: 'gzip' };
}
