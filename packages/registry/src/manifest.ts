// Manifests, indexes and configs of images: fetched by tag or digest, verified, parsed and cached.
import { describeKind, isRecord, parseJson } from '@slipway/base/json';
import { quote } from '@slipway/base/text';
import { checkDigest, checkSize, computeDigest, readBytes } from './response.ts';
import type { Requester, Image } from './requester.ts';
import { RegistryError } from './errors.ts';
import { Lru } from './lru.ts';
import { blobUrl, manifestUrl } from './pull-sources.ts';
import { DIGEST_PATTERN } from './reference.ts';
import type { Layer, Platform } from './registry.ts';

/** An image for one platform. */
interface Manifest {
  readonly kind: 'image';
  readonly config: Layer;
  /** From bottom to top. */
  readonly layers: readonly Layer[];
}

/** Images for several platforms under one name. */
interface Index {
  readonly kind: 'index';
  readonly manifests: readonly IndexEntry[];
}

interface IndexEntry extends Layer {
  readonly platform: Platform | undefined;
}

/** The needed parts of an image config. */
interface ImageConfig {
  readonly platform: Platform;
  readonly labels: Readonly<Record<string, string>>;
}

interface ResolvedManifest {
  /** Digest of the referenced document: that of the index, if it is one. */
  readonly named: string;
  /** Digest of the manifest for the platform. */
  readonly digest: string;
  readonly manifest: Manifest;
}

/** Manifests and configs, each fetched once and cached by digest. */
export interface Documents {
  /** By tag or digest. */
  manifestOf(image: Image, wanted: string): Promise<ResolvedManifest>;
  configOf(image: Image, config: Layer): Promise<ImageConfig>;
}

export interface DocumentsOptions {
  readonly ask: Requester;
  readonly platform: Platform;
  readonly timeoutMs: number;
}

const MAX_INDEX_DEPTH = 3;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

export function createDocuments({ ask, platform, timeoutMs }: DocumentsOptions): Documents {
  const manifests = new Lru<Manifest | Index>(MAX_KEPT_BYTES);
  const configs = new Lru<ImageConfig>(MAX_KEPT_BYTES);

  async function fetchDocument(
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
        const bytes = await readBytes(answer.body, MAX_MANIFEST_BYTES, asked);
        if (size !== undefined) checkSize(size, bytes.length, asked);
        const expected = expectedDigest(wanted, answer.header('docker-content-digest'));
        if (expected !== undefined) checkDigest(expected, computeDigest(bytes), asked);
        return bytes;
      },
    });
    const digest = computeDigest(bytes);
    const document = parseManifest(bytes, `${image.reference}: ${what}`);
    manifests.set(digest, document, bytes.length);
    return { digest, document };
  }

  async function fetchManifest(image: Image, wanted: string): Promise<ResolvedManifest> {
    let { digest, document } = await fetchDocument(image, wanted);
    const named = digest;
    for (let depth = 0; document.kind === 'index'; depth += 1) {
      const about = `${image.reference}: index ${digest}`;
      if (depth >= MAX_INDEX_DEPTH) {
        const text = `${about}: expected an image, found an index nested in ${MAX_INDEX_DEPTH} others. Push the image with fewer nested indexes`;
        throw new RegistryError('SLW_REGISTRY_LIMIT', text);
      }
      const picked = pickPlatform(document, platform, about);
      ({ digest, document } = await fetchDocument(image, picked.digest, picked.size));
    }
    return { named, digest, manifest: document };
  }

  async function fetchConfig(image: Image, { digest, size }: Layer): Promise<ImageConfig> {
    const kept = configs.get(digest);
    if (kept !== undefined) return kept;
    const what = `config ${digest}`;
    if (size > MAX_CONFIG_BYTES) {
      const text = `${image.reference}: ${what}: expected at most ${MAX_CONFIG_BYTES} bytes, found ${size}. Larger images are not supported`;
      throw new RegistryError('SLW_REGISTRY_LIMIT', text);
    }
    const bytes = await ask(image, {
      what,
      url: (place) => blobUrl(place, digest),
      timeoutMs,
      async read(answer, asked) {
        const bytes = await readBytes(answer.body, MAX_CONFIG_BYTES, asked);
        checkSize(size, bytes.length, asked);
        checkDigest(digest, computeDigest(bytes), asked);
        return bytes;
      },
    });
    const config = parseImageConfig(bytes, `${image.reference}: ${what}`);
    configs.set(digest, config, JSON.stringify(config).length);
    return config;
  }

  return { manifestOf: fetchManifest, configOf: fetchConfig };
}

/** For a tag, the digest that the registry reports, which must at least match its content. */
function expectedDigest(wanted: string, reported: string | string[] | undefined): string | undefined {
  if (wanted.startsWith('sha256:')) return wanted;
  return typeof reported === 'string' && reported.startsWith('sha256:') ? reported : undefined;
}

const indexTypes: ReadonlySet<unknown> = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);
const imageTypes: ReadonlySet<unknown> = new Set([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]);

const acceptManifests = [...indexTypes, ...imageTypes].join(', ');
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const MAX_LAYERS = 500;
const MAX_ENTRIES = 1000;

const isIndexType = (mediaType: string): boolean => indexTypes.has(mediaType);

/**
 * Parses a manifest or an index. The type is taken from the content, which the digest covers, and not from the
 * Content-Type header, which it does not. Ambiguous content is rejected (CVE-2021-41190).
 */
function parseManifest(bytes: Uint8Array, about: string): Manifest | Index {
  const document = parseDocument(bytes, about);
  const { mediaType } = document;
  checkVersion(document['schemaVersion'], about);
  const isIndex = 'manifests' in document;
  if (isIndex && ('layers' in document || 'config' in document)) {
    throw refuse(about, 'expected either manifests, or config and layers, found both. The document is ambiguous');
  }
  if (mediaType !== undefined && !(isIndex ? indexTypes : imageTypes).has(mediaType)) {
    throw refuse(about, `mediaType: expected that of an ${isIndex ? 'index' : 'image'}, found ${showText(mediaType)}`);
  }
  return isIndex ? indexIn(document, about) : imageIn(document, about);
}

function checkVersion(version: unknown, about: string): void {
  if (version === 2) return;
  const found = version === 1 ? '1, which registries no longer support' : describeKind(version);
  throw refuse(about, `schemaVersion: expected 2, found ${found}. Push the image again with a current tool`);
}

function parseDocument(bytes: Uint8Array, about: string): Record<string, unknown> {
  const parsed = parseJson(Buffer.from(bytes).toString('utf8'));
  if (!parsed.ok) throw refuse(about, `${parsed.problem}. Check that this is the address of a registry`);
  if (!isRecord(parsed.value)) throw refuse(about, `expected an object, found ${describeKind(parsed.value)}`);
  return parsed.value;
}

function indexIn(document: Record<string, unknown>, about: string): Index {
  const manifests = listIn(document, 'manifests', MAX_ENTRIES, about).map((entry, index) =>
    Object.assign(descriptorIn(entry, `manifests[${index}]`, about), { platform: platformIn(entry) }),
  );
  return { kind: 'index', manifests };
}

function imageIn(document: Record<string, unknown>, about: string): Manifest {
  const layers = listIn(document, 'layers', MAX_LAYERS, about);
  return {
    kind: 'image',
    config: descriptorIn(document['config'], 'config', about),
    layers: layers.map((layer, index) => descriptorIn(layer, `layers[${index}]`, about)),
  };
}

function listIn(document: Record<string, unknown>, field: string, most: number, about: string): unknown[] {
  const value = document[field];
  if (!Array.isArray(value)) throw refuse(about, `${field}: expected a list, found ${describeKind(value)}`);
  if (value.length > most) {
    const text = `${about}: ${field}: expected at most ${most} entries, found ${value.length}. Larger images are not supported`;
    throw new RegistryError('SLW_REGISTRY_LIMIT', text);
  }
  return value;
}

function descriptorIn(value: unknown, at: string, about: string): Layer {
  if (!isRecord(value)) throw refuse(about, `${at}: expected a descriptor, found ${describeKind(value)}`);
  const { digest, size, mediaType } = value;
  if (typeof digest !== 'string' || !DIGEST_PATTERN.test(digest)) {
    throw refuse(about, `${at}.digest: expected sha256: and 64 characters 0-9 a-f, found ${showText(digest)}`);
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw refuse(
      about,
      `${at}.size: expected a number of bytes, found ${typeof size === 'number' ? size : describeKind(size)}`,
    );
  }
  return { digest, size, mediaType: typeof mediaType === 'string' ? mediaType : '' };
}

function platformIn(value: unknown): Platform | undefined {
  const platform = isRecord(value) ? value['platform'] : undefined;
  if (!isRecord(platform)) return undefined;
  const { os, architecture } = platform;
  return typeof os === 'string' && typeof architecture === 'string' ? { os, architecture } : undefined;
}

/** The entry for the platform, or else a nested index without platform information. */
function pickPlatform(index: Index, wanted: Platform, about: string): IndexEntry {
  const { manifests } = index;
  const found =
    manifests.find(({ platform }) => platform?.os === wanted.os && platform.architecture === wanted.architecture) ??
    manifests.find(({ platform, mediaType }) => platform === undefined && isIndexType(mediaType));
  if (found !== undefined) return found;
  const there = manifests.flatMap(({ platform }) =>
    platform === undefined ? [] : [`${platform.os}/${platform.architecture}`],
  );
  const text = `${about}: expected an image for ${wanted.os}/${wanted.architecture}, found ${quote(there.join(', ') || 'none')}. Use an image that is built for this platform, or request another platform`;
  throw new RegistryError('SLW_REGISTRY_PLATFORM', text);
}

const showText = (value: unknown): string => (typeof value === 'string' ? quote(value, 100) : describeKind(value));

const refuse = (about: string, why: string): RegistryError =>
  new RegistryError('SLW_REGISTRY_ANSWER', `${about}: ${why}`);

const MAX_CONFIG_BYTES = 8 * 1024 * 1024;

function parseImageConfig(bytes: Uint8Array, about: string): ImageConfig {
  const parsed = parseJson(Buffer.from(bytes).toString('utf8'));
  if (!parsed.ok || !isRecord(parsed.value)) {
    const text = `${about}: expected a JSON object, found something else. The config of the image is damaged: push the image again`;
    throw new RegistryError('SLW_REGISTRY_ANSWER', text);
  }
  const { os, architecture, config } = parsed.value;
  return {
    platform: { os: textOr(os, 'unknown'), architecture: textOr(architecture, 'unknown') },
    labels: labelsIn(isRecord(config) ? config['Labels'] : undefined),
  };
}

const textOr = (value: unknown, other: string): string => (typeof value === 'string' && value !== '' ? value : other);

/** Without a prototype, because a label may have the name of any property of Object. */
function labelsIn(value: unknown): Record<string, string> {
  const labels = Object.create(null) as Record<string, string>;
  for (const [name, text] of Object.entries(isRecord(value) ? value : {})) {
    if (typeof text === 'string') labels[name] = text;
  }
  return labels;
}
