import type { Ask, Image } from './asking.ts';
import { checkDigest, checkSize, digestOf, readBytes } from './bytes.ts';
import { blobUrl, manifestUrl } from './endpoint.ts';
import { RegistryError } from './errors.ts';
import { mostConfigBytes, parseImageConfig } from './image-config.ts';
import type { ImageConfig } from './image-config.ts';
import { Lru } from './lru.ts';
import { acceptManifests, mostManifestBytes, parseManifest, pickPlatform } from './manifest.ts';
import type { Index, Manifest } from './manifest.ts';
import type { Layer, Platform } from './registry.ts';

export interface FoundManifest {
  /** Of what the reference names: the index, where it is one. */
  readonly named: string;
  /** Of the manifest for the platform. */
  readonly digest: string;
  readonly manifest: Manifest;
}

/** Manifests and configs, each asked for once and then kept by its digest. */
export interface Documents {
  /** By tag or digest. */
  manifestOf(image: Image, wanted: string): Promise<FoundManifest>;
  configOf(image: Image, config: Layer): Promise<ImageConfig>;
}

export interface DocumentsOptions {
  readonly ask: Ask;
  readonly platform: Platform;
  readonly timeoutMs: number;
}

const deepestIndex = 3;
const mostKeptBytes = 16 * 1024 * 1024;

export function createDocuments({ ask, platform, timeoutMs }: DocumentsOptions): Documents {
  const manifests = new Lru<Manifest | Index>(mostKeptBytes);
  const configs = new Lru<ImageConfig>(mostKeptBytes);

  async function documentOf(
    image: Image,
    wanted: string,
    size?: number,
  ): Promise<{ digest: string; document: Manifest | Index }> {
    const kept = manifests.get(wanted);
    if (kept !== undefined) return { digest: wanted, document: kept };
    const what = `manifest ${wanted}`;
    const bytes = await ask(image, {
      what,
      url: (place) => manifestUrl(place, wanted),
      accept: acceptManifests,
      timeoutMs,
      async read(answer, asked) {
        const bytes = await readBytes(answer.body, mostManifestBytes, asked);
        if (size !== undefined) checkSize(size, bytes.length, asked);
        const expected = expectedDigest(wanted, answer.header('docker-content-digest'));
        if (expected !== undefined) checkDigest(expected, digestOf(bytes), asked);
        return bytes;
      },
    });
    const digest = digestOf(bytes);
    const document = parseManifest(bytes, `${image.reference}: ${what}`);
    manifests.set(digest, document, bytes.length);
    return { digest, document };
  }

  async function manifestOf(image: Image, wanted: string): Promise<FoundManifest> {
    let { digest, document } = await documentOf(image, wanted);
    const named = digest;
    for (let depth = 0; document.kind === 'index'; depth += 1) {
      const about = `${image.reference}: index ${digest}`;
      if (depth >= deepestIndex) {
        const text = `${about}: expected an image, found an index inside ${deepestIndex} others. Push the image with fewer`;
        throw new RegistryError('SLW_REGISTRY_LIMIT', text);
      }
      const picked = pickPlatform(document, platform, about);
      ({ digest, document } = await documentOf(image, picked.digest, picked.size));
    }
    return { named, digest, manifest: document };
  }

  async function configOf(image: Image, { digest, size }: Layer): Promise<ImageConfig> {
    const kept = configs.get(digest);
    if (kept !== undefined) return kept;
    const what = `config ${digest}`;
    if (size > mostConfigBytes) {
      const text = `${image.reference}: ${what}: expected at most ${mostConfigBytes} bytes, found ${size}. An image that needs more cannot be read`;
      throw new RegistryError('SLW_REGISTRY_LIMIT', text);
    }
    const bytes = await ask(image, {
      what,
      url: (place) => blobUrl(place, digest),
      timeoutMs,
      async read(answer, asked) {
        const bytes = await readBytes(answer.body, mostConfigBytes, asked);
        checkSize(size, bytes.length, asked);
        checkDigest(digest, digestOf(bytes), asked);
        return bytes;
      },
    });
    const config = parseImageConfig(bytes, `${image.reference}: ${what}`);
    configs.set(digest, config, JSON.stringify(config).length);
    return config;
  }

  return { manifestOf, configOf };
}

/** For a tag, what the registry says itself: it at least has to agree with what it gives. */
function expectedDigest(wanted: string, said: string | string[] | undefined): string | undefined {
  if (wanted.startsWith('sha256:')) return wanted;
  return typeof said === 'string' && said.startsWith('sha256:') ? said : undefined;
}
