// The sizes of images: the known ones, and how to query registries from this machine.
import {
  decode,
  type Decoder,
  map,
  number,
  readableEntries,
  readableItems,
  refine,
  string,
  tuple,
} from '@slipway/base/codec';
import type { SizedImage, SizedLayer } from '@slipway/fleet';
import { whyRedirectRefused } from '@slipway/ignition';
import type { RegistriesConf, RegistryOptions } from '@slipway/registry';
import { DaemonError } from '../errors.ts';
import type { RegistryCredential } from '../host/container-runtime.ts';
import { type FileSystem, makeDirectories, ownOwners, readText, replaceFile } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';

// Sizes by digest, as reported by registries. A lost cache is filled again.

export type KnownSizes = Pick<ReadonlyMap<string, SizedImage>, 'get' | 'has'>;

export interface ImageSizes extends KnownSizes {
  add(image: string, sized: SizedImage): void;
  /** Writes only if something was added. Sizes of `kept` are dropped last. */
  save(kept: ReadonlySet<string>): Promise<void>;
}

const DIRECTORY = '/var/lib/machine-config-daemon';
const PATH = `${DIRECTORY}/image-sizes.json`;
const MAX_SIZES_BYTES = 16 * 1024 * 1024;
const MAX_KNOWN_IMAGES = 5000;
const MAX_LAYERS = 1000;

export async function openImageSizes(files: FileSystem): Promise<ImageSizes> {
  const known = await read(files);
  let isSaved = true;
  return {
    get: (image) => known.get(parseDigest(image)),
    has: (image) => known.has(parseDigest(image)),
    add(image, sized) {
      known.set(parseDigest(image), sized);
      isSaved = false;
    },
    async save(kept) {
      if (isSaved) return;
      forget(known, new Set([...kept].map(parseDigest)));
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

/** The digest identifies the bytes, whichever registry serves them. */
const parseDigest = (image: string): string => image.slice(image.lastIndexOf('@') + 1);

function forget(known: Map<string, SizedImage>, kept: ReadonlySet<string>): void {
  for (const digest of known.keys()) {
    if (known.size <= MAX_KNOWN_IMAGES) return;
    if (!kept.has(digest)) known.delete(digest);
  }
}

const layer: Decoder<SizedLayer> = map(tuple(string(), number()), ([digest, size]) => ({ digest, size }));
const layers = refine(readableItems(layer, { max: MAX_LAYERS }), (found) => found.length > 0, 'layers');
const knownSizes: Decoder<Map<string, SizedImage>> = readableEntries(map(layers, (found) => ({ layers: found })));

/** Unreadable entries are queried again. */
async function read(files: FileSystem): Promise<Map<string, SizedImage>> {
  if ((await files.lookAt(PATH)) === null) return new Map();
  const bytes = await files.read(PATH, MAX_SIZES_BYTES).catch(() => new Uint8Array());
  const sizes = decode(knownSizes, new TextDecoder().decode(bytes), { maxChars: MAX_SIZES_BYTES });
  return sizes.ok ? sizes.value : new Map();
}

// The source of sizes: the registry, or a simulated machine whose images are in no registry.

export interface SizeSource {
  /** Rejects with a DaemonError SLW_PINNING_SIZES. */
  sizeOf(image: string, signal: AbortSignal): Promise<SizedImage>;
  /** Closes connections and forgets the credentials. The next query opens and reads them again. */
  rest(): Promise<void>;
}

const AT_ONCE = 8;
/** Callers retry on their own. */
const RETRIES = 1;

export function openSizeSource({ files, containers }: Pick<Host, 'files' | 'containers'>): SizeSource {
  const { sizeOf } = containers;
  if (sizeOf !== undefined) {
    return { sizeOf: (image) => Promise.resolve(sizeOf(image)), rest: () => Promise.resolve() };
  }
  let opening: ReturnType<typeof open> | null = null;

  async function open() {
    const { createRegistry } = await import('@slipway/registry');
    return createRegistry({
      ...(await readRegistryOptions(files)),
      redirectRule: whyRedirectRefused,
      atOnce: AT_ONCE,
      retries: RETRIES,
    });
  }

  return {
    async sizeOf(image, signal) {
      try {
        const layers = await (await (opening ??= open())).layers(image, { signal });
        return { layers: layers.map(({ digest, size }) => ({ digest, size })) };
      } catch (error) {
        signal.throwIfAborted();
        throw toSizeError(image, error);
      }
    },
    async rest() {
      const registry = await opening?.catch(() => null);
      opening = null;
      await registry?.close();
    },
  };
}

function toSizeError(image: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('SLW_')) return error;
  const reported = error.message.replaceAll(`${image}: `, '');
  return new DaemonError(
    'SLW_PINNING_SIZES',
    `could not get the size of ${image}, so it is not pulled: ${reported} (${String(error.code)})`,
    { cause: error },
  );
}

// Registry access, configured by the same files that the machine's container runtime uses.

const PULL_SECRET = '/var/lib/kubelet/config.json';
const REGISTRIES = '/etc/containers/registries.conf';
const CERTIFICATES = ['/etc/containers/certs.d', '/etc/docker/certs.d'];
/** The CA bundle of the host: a daemon in a container has a different one. */
const BUNDLES = ['/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem', '/etc/ssl/certs/ca-certificates.crt'];
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_CERTIFICATE_HOSTS = 200;

/** By scope. Empty if the machine has no pull secret. */
export type Credentials = ReadonlyMap<string, RegistryCredential>;

export async function readCredentials(files: FileSystem): Promise<Credentials> {
  const text = await readText(files, PULL_SECRET, MAX_FILE_BYTES);
  if (text === undefined) return new Map();
  return (await import('@slipway/registry')).parsePullSecret(text);
}

/** The credential for the most specific scope that contains the image. */
export async function findCredential(image: string, credentials: Credentials): Promise<RegistryCredential | null> {
  if (credentials.size === 0) return null;
  const { mostSpecific } = await import('@slipway/registry');
  const scope = mostSpecific(credentials.keys(), parseRepository(image));
  return (scope === undefined ? undefined : credentials.get(scope)) ?? null;
}

/** Without the digest. Host names are case-insensitive. */
function parseRepository(image: string): string {
  const [name = ''] = image.split('@');
  const slash = name.indexOf('/');
  return name.slice(0, slash).toLowerCase() + name.slice(slash);
}

export async function readRegistryOptions(files: FileSystem): Promise<RegistryOptions> {
  const { mirrors, plainHttp } = await readRegistriesConf(files);
  const ca = await readAuthorities(files);
  return { credentials: await readCredentials(files), mirrors, plainHttp, ...(ca !== '' && { ca }) };
}

async function readRegistriesConf(files: FileSystem): Promise<RegistriesConf> {
  const { parseRegistriesConf } = await import('@slipway/registry');
  const directory = `${REGISTRIES}.d`;
  const more = (await files.list(directory)).filter((name) => name.endsWith('.conf'));
  const found: RegistriesConf[] = [];
  for (const path of [REGISTRIES, ...more.map((name) => `${directory}/${name}`)]) {
    const text = await readText(files, path, MAX_FILE_BYTES);
    if (text !== undefined) found.push(parseRegistriesConf(text));
  }
  return {
    mirrors: found.flatMap(({ mirrors }) => mirrors),
    plainHttp: found.flatMap(({ plainHttp }) => plainHttp),
  };
}

/** One list for all hosts is enough: only sizes are queried, and manifests are verified by digest. */
async function readAuthorities(files: FileSystem): Promise<string> {
  const paths = [...BUNDLES];
  for (const directory of CERTIFICATES) {
    for (const host of (await files.list(directory)).slice(0, MAX_CERTIFICATE_HOSTS)) {
      const names = await files.list(`${directory}/${host}`);
      paths.push(...names.filter((name) => name.endsWith('.crt')).map((name) => `${directory}/${host}/${name}`));
    }
  }
  const texts = await Promise.all(paths.map((path) => readText(files, path, MAX_FILE_BYTES)));
  return texts.filter((text) => text?.includes('BEGIN CERTIFICATE')).join('\n');
}
