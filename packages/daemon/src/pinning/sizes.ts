// How large images are: what registries have said, how they are asked, and how this machine gets at them.
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
import type { RegistriesConf, RegistryOptions } from '@slipway/registry';
import { DaemonError } from '../errors.ts';
import type { RegistryCredential } from '../host/container-runtime.ts';
import { type FileSystem, makeDirectories, ownOwners, readText, replaceFile } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';

// By digest, as registries have said it. It may be lost: then they are asked again.

export type KnownSizes = Pick<ReadonlyMap<string, SizedImage>, 'get' | 'has'>;

export interface ImageSizes extends KnownSizes {
  add(image: string, sized: SizedImage): void;
  /** Nothing is written where nothing was added. Those of `kept` stay longest. */
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

/** The same bytes, whatever registry they come from. */
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

/** What cannot be read is asked for again. */
async function read(files: FileSystem): Promise<Map<string, SizedImage>> {
  if ((await files.lookAt(PATH)) === null) return new Map();
  const bytes = await files.read(PATH, MAX_SIZES_BYTES).catch(() => new Uint8Array());
  const sizes = decode(knownSizes, new TextDecoder().decode(bytes), { maxChars: MAX_SIZES_BYTES });
  return sizes.ok ? sizes.value : new Map();
}

// Who says it: the registry, or the simulated machine whose images no registry has.

export interface SizeSource {
  /** Rejects with a DaemonError SLW_PINNING_SIZES. */
  sizeOf(image: string, signal: AbortSignal): Promise<SizedImage>;
  /** Connections, and the login that was read: both are made anew when something is asked for again. */
  rest(): Promise<void>;
}

const AT_ONCE = 8;
/** An image that cannot be sized is tried again by who asked. */
const RETRIES = 1;

export function openSizeSource({ files, containers }: Pick<Host, 'files' | 'containers'>): SizeSource {
  const { sizeOf } = containers;
  if (sizeOf !== undefined) {
    return { sizeOf: (image) => Promise.resolve(sizeOf(image)), rest: () => Promise.resolve() };
  }
  let opening: ReturnType<typeof open> | null = null;

  async function open() {
    const { createRegistry } = await import('@slipway/registry');
    return createRegistry({ ...(await readRegistryOptions(files)), atOnce: AT_ONCE, retries: RETRIES });
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
    `how large ${image} is cannot be found out, and so it is not pulled: ${reported} (${String(error.code)})`,
    { cause: error },
  );
}

// Registries, by the files that the container runtime of this machine goes by as well.

const PULL_SECRET = '/var/lib/kubelet/config.json';
const REGISTRIES = '/etc/containers/registries.conf';
const CERTIFICATES = ['/etc/containers/certs.d', '/etc/docker/certs.d'];
/** Of the OS: a daemon in a container has another one. */
const BUNDLES = ['/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem', '/etc/ssl/certs/ca-certificates.crt'];
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_CERTIFICATE_HOSTS = 200;

/** By scope; empty where the machine has no pull secret. */
export type Credentials = ReadonlyMap<string, RegistryCredential>;

export async function readCredentials(files: FileSystem): Promise<Credentials> {
  const text = await readText(files, PULL_SECRET, MAX_FILE_BYTES);
  if (text === undefined) return new Map();
  return (await import('@slipway/registry')).parsePullSecret(text);
}

/** The one for the most specific scope that the image is in. */
export async function findCredential(image: string, credentials: Credentials): Promise<RegistryCredential | null> {
  if (credentials.size === 0) return null;
  const { mostSpecific } = await import('@slipway/registry');
  const scope = mostSpecific(credentials.keys(), parseRepository(image));
  return (scope === undefined ? undefined : credentials.get(scope)) ?? null;
}

/** Without the digest; hosts have no case. */
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

/** Only sizes are asked for by them, and manifests are checked against their digests: so one list for all hosts will do. */
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
