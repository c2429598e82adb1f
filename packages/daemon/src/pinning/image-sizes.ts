// How large images are, by digest, as registries have said it. It may be lost: then they are asked again.
import type { SizedImage, SizedLayer } from '@slipway/fleet';
import type { FileSystem } from '../host/file-system.ts';
import { makeDirectories } from '../host/make-directories.ts';
import { ownOwners } from '../host/own-owners.ts';
import { replaceFile } from '../host/replace-file.ts';

export type KnownSizes = Pick<ReadonlyMap<string, SizedImage>, 'get' | 'has'>;

export interface ImageSizes extends KnownSizes {
  add(image: string, sized: SizedImage): void;
  /** Nothing is written where nothing was added. Those of `kept` stay longest. */
  save(kept: ReadonlySet<string>): Promise<void>;
}

const DIRECTORY = '/var/lib/machine-config-daemon';
const PATH = `${DIRECTORY}/image-sizes.json`;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_IMAGES = 5000;
const MOST_LAYERS = 1000;

export async function openImageSizes(files: FileSystem): Promise<ImageSizes> {
  const known = await read(files);
  let isSaved = true;
  return {
    get: (image) => known.get(digestOf(image)),
    has: (image) => known.has(digestOf(image)),
    add(image, sized) {
      known.set(digestOf(image), sized);
      isSaved = false;
    },
    async save(kept) {
      if (isSaved) return;
      forget(known, new Set([...kept].map(digestOf)));
      const lines = [...known].map(([digest, { layers }]) => [
        digest,
        layers.map((layer) => [layer.digest, layer.size]),
      ]);
      await makeDirectories(files, DIRECTORY, ownOwners());
      const bytes = Buffer.from(JSON.stringify(Object.fromEntries(lines)));
      await replaceFile(files, PATH, { ...ownOwners(), mode: 0o600, bytes }, { sync: false });
      isSaved = true;
    },
  };
}

/** The same bytes, whatever registry they come from. */
const digestOf = (image: string): string => image.slice(image.lastIndexOf('@') + 1);

function forget(known: Map<string, SizedImage>, kept: ReadonlySet<string>): void {
  for (const digest of known.keys()) {
    if (known.size <= MOST_IMAGES) return;
    if (!kept.has(digest)) known.delete(digest);
  }
}

async function read(files: FileSystem): Promise<Map<string, SizedImage>> {
  if ((await files.lookAt(PATH)) === null) return new Map();
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(await files.read(PATH, MOST_BYTES)));
    return typeof json === 'object' && json !== null ? parse(json) : new Map();
  } catch {
    return new Map();
  }
}

function parse(json: object): Map<string, SizedImage> {
  const sizes = new Map<string, SizedImage>();
  for (const [digest, layers] of Object.entries(json)) {
    const sized = Array.isArray(layers) && layers.length <= MOST_LAYERS ? layers.flatMap(layerOf) : [];
    if (sized.length > 0) sizes.set(digest, { layers: sized });
  }
  return sizes;
}

function layerOf(value: unknown): SizedLayer[] {
  if (!Array.isArray(value)) return [];
  const [digest, size]: unknown[] = value;
  return typeof digest === 'string' && typeof size === 'number' ? [{ digest, size }] : [];
}
