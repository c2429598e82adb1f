import { createHash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { pack } from 'tar-stream';

export interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
  readonly mediaType: string;
}

export interface TestEntry {
  readonly name: string;
  readonly type?: 'file' | 'directory' | 'symlink' | 'link' | 'fifo';
  readonly content?: string | Buffer;
  readonly linkname?: string;
}

export interface TestImage {
  readonly manifest: Blob;
  readonly config: Blob;
  /** From the lowest to the topmost. */
  readonly layers: readonly Blob[];
}

export function buildBlob(bytes: Buffer | string, mediaType: string): Blob {
  const buffer = Buffer.from(bytes);
  return { digest: `sha256:${createHash('sha256').update(buffer).digest('hex')}`, bytes: buffer, mediaType };
}

async function packTar(entries: readonly TestEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const { name, type = 'file', content = '', linkname = '' } of entries) {
    archive.entry({ name, type, linkname }, type === 'file' ? content : '');
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export type Packing = 'gzip' | 'zstd' | 'none';

const packings: Record<Packing, { suffix: string; pack: (bytes: Buffer) => Buffer }> = {
  gzip: { suffix: '+gzip', pack: (bytes) => gzipSync(bytes) },
  zstd: { suffix: '+zstd', pack: (bytes) => zstdCompressSync(bytes) },
  none: { suffix: '', pack: (bytes) => bytes },
};

export async function buildLayer(entries: readonly TestEntry[], packing: Packing = 'gzip'): Promise<Blob> {
  const { suffix, pack } = packings[packing];
  return buildBlob(pack(await packTar(entries)), `application/vnd.oci.image.layer.v1.tar${suffix}`);
}

export const toDescriptor = ({ digest, bytes, mediaType }: Blob) => ({ mediaType, digest, size: bytes.length });

export function buildImage(
  layers: readonly Blob[],
  { labels = {}, architecture = 'amd64' }: { labels?: Record<string, string>; architecture?: string } = {},
): TestImage {
  const config = buildBlob(
    JSON.stringify({ os: 'linux', architecture, config: { Labels: labels } }),
    'application/vnd.oci.image.config.v1+json',
  );
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const document = { schemaVersion: 2, mediaType, config: toDescriptor(config), layers: layers.map(toDescriptor) };
  return { manifest: buildBlob(JSON.stringify(document), mediaType), config, layers };
}

export function buildIndex(entries: readonly { manifest: Blob; architecture?: string }[]): Blob {
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  const manifests = entries.map(({ manifest, architecture }) =>
    architecture === undefined
      ? toDescriptor(manifest)
      : Object.assign(toDescriptor(manifest), { platform: { os: 'linux', architecture } }),
  );
  return buildBlob(JSON.stringify({ schemaVersion: 2, mediaType, manifests }), mediaType);
}
