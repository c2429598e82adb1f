import { createHash, type Hash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip, createZstdCompress } from 'node:zlib';
import type { RegistryAccess } from './registry.ts';
import { buildTar, type LayerFile } from './tar.ts';
import { Upload } from './upload.ts';

export type Compression = 'gzip' | 'zstd' | 'none';

export interface LayerSpec {
  files: readonly LayerFile[];
  /** gzip by default. */
  compression?: Compression;
}

/** A layer that is already in a repository, for several images. */
export interface PushedLayer {
  compression: Compression;
  digest: string;
  size: number;
  /** The digest of the uncompressed contents. */
  contents: string;
}

export interface ImageSpec {
  /** From the lowest to the topmost. */
  layers: readonly (LayerSpec | PushedLayer)[];
  labels?: Readonly<Record<string, string>>;
  /** The OCI name, such as amd64; by default that of this process. */
  architecture?: string;
  /** The manifest's media types; OCI by default. Docker has none for zstd. */
  mediaTypes?: 'oci' | 'docker';
  /** An additional tag. */
  tag?: string;
}

const mediaTypesOf = {
  oci: {
    index: 'application/vnd.oci.image.index.v1+json',
    manifest: 'application/vnd.oci.image.manifest.v1+json',
    config: 'application/vnd.oci.image.config.v1+json',
    gzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
    zstd: 'application/vnd.oci.image.layer.v1.tar+zstd',
    none: 'application/vnd.oci.image.layer.v1.tar',
  },
  docker: {
    index: 'application/vnd.docker.distribution.manifest.list.v2+json',
    manifest: 'application/vnd.docker.distribution.manifest.v2+json',
    config: 'application/vnd.docker.container.image.v1+json',
    gzip: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
    zstd: 'application/vnd.docker.image.rootfs.diff.tar.zstd',
    none: 'application/vnd.docker.image.rootfs.diff.tar',
  },
};

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/** Builds the image while uploading it; resolves with its reference by digest: 127.0.0.1:PORT/name@sha256:… */
export async function pushImage(registry: RegistryAccess, name: string, spec: ImageSpec): Promise<string> {
  return uploading(registry, name, async (upload) => {
    const { digest } = await putImage(upload, spec, spec.tag);
    return `${registry.host}/${name}@${digest}`;
  });
}

export async function pushLayer(registry: RegistryAccess, name: string, layer: LayerSpec): Promise<PushedLayer> {
  return uploading(registry, name, (upload) => putLayer(upload, layer));
}

/** One image per architecture, and an index of them; resolves with the index's reference by digest. */
export async function pushIndex(
  registry: RegistryAccess,
  name: string,
  images: readonly ImageSpec[],
  { mediaTypes = 'oci', tag }: Pick<ImageSpec, 'mediaTypes' | 'tag'> = {},
): Promise<string> {
  return uploading(registry, name, async (upload) => {
    const manifests = [];
    for (const image of images) {
      const descriptor = await putImage(upload, { ...image, mediaTypes }, image.tag);
      manifests.push({ ...descriptor, platform: { os: 'linux', architecture: readArchitecture(image) } });
    }
    const mediaType = mediaTypesOf[mediaTypes].index;
    const { digest } = await putManifest(upload, { schemaVersion: 2, mediaType, manifests }, tag);
    return `${registry.host}/${name}@${digest}`;
  });
}

/** Deletes an image, like a registry that has pruned it. */
export async function removeImage(registry: RegistryAccess, reference: string): Promise<void> {
  const [name = '', digest = ''] = reference.slice(registry.host.length + 1).split('@');
  await uploading(registry, name, (upload) => upload.removeManifest(digest));
}

async function uploading<T>(registry: RegistryAccess, name: string, work: (upload: Upload) => Promise<T>): Promise<T> {
  const upload = await Upload.to(registry, name);
  try {
    return await work(upload);
  } finally {
    upload.close();
  }
}

async function putImage(upload: Upload, spec: ImageSpec, tag: string | undefined): Promise<Descriptor> {
  const { layers: specs, labels = {}, mediaTypes = 'oci' } = spec;
  const types = mediaTypesOf[mediaTypes];
  const layers: PushedLayer[] = [];
  for (const layer of specs) layers.push('files' in layer ? await putLayer(upload, layer) : layer);
  const config = JSON.stringify({
    architecture: readArchitecture(spec),
    os: 'linux',
    config: { Labels: labels },
    rootfs: { type: 'layers', diff_ids: layers.map(({ contents }) => contents) },
    history: specs.map(() => ({ created_by: 'slipway tests' })),
  });
  const blob = { digest: computeDigest(config), size: Buffer.byteLength(config) };
  await upload.blob(Readable.from([Buffer.from(config)]), () => blob.digest);
  return putManifest(
    upload,
    {
      schemaVersion: 2,
      mediaType: types.manifest,
      config: { mediaType: types.config, ...blob },
      layers: layers.map(({ compression, digest, size }) => ({ mediaType: types[compression], digest, size })),
    },
    tag,
  );
}

async function putManifest(
  upload: Upload,
  manifest: { schemaVersion: 2; mediaType: string; [field: string]: unknown },
  tag: string | undefined,
): Promise<Descriptor> {
  const { mediaType } = manifest;
  const content = JSON.stringify(manifest);
  const digest = computeDigest(content);
  await upload.manifest(digest, mediaType, content);
  if (tag !== undefined) await upload.manifest(tag, mediaType, content);
  return { mediaType, digest, size: Buffer.byteLength(content) };
}

async function putLayer(upload: Upload, { files, compression = 'gzip' }: LayerSpec): Promise<PushedLayer> {
  const contents = createHash('sha256');
  const blob = createHash('sha256');
  let size = 0;
  const tar = summed(buildTar(files), contents);
  const sent = summed(compressed(tar, compression, files), blob, (length) => (size += length));
  let digest = '';
  await upload.blob(sent, () => (digest = `sha256:${blob.digest('hex')}`));
  return { compression, digest, size, contents: `sha256:${contents.digest('hex')}` };
}

function compressed(
  tar: AsyncIterable<Uint8Array>,
  compression: Compression,
  files: readonly LayerFile[],
): AsyncIterable<Uint8Array> {
  if (compression === 'none') return tar;
  // Deflate stores incompressible data, but takes 5 s for 100 MB to detect it.
  const level = files.some((file) => 'randomBytes' in file) ? 0 : 6;
  // A failure of either destroys both, and the reader gets the error.
  return pipeline(tar, compression === 'gzip' ? createGzip({ level }) : createZstdCompress(), () => {});
}

async function* summed(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  hash: Hash,
  count: (length: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    hash.update(piece);
    count(piece.length);
    yield piece;
  }
}

const computeDigest = (content: string): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', ppc64: 'ppc64le' };

const readArchitecture = ({ architecture = ARCHITECTURES[process.arch] ?? process.arch }: ImageSpec): string =>
  architecture;
