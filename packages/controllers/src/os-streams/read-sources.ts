// Asks registries about the images that the sources name. A source that fails is a value: others may still do.
import type { Secret } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { formatProblem } from '@slipway/fleet';
import {
  type ImagePair,
  imageReferencesPath,
  isCandidate,
  MAX_REFERENCES_BYTES,
  MOST_CANDIDATES,
  readImageReferences,
  type SourceImage,
  type SourceName,
  type SourceReading,
  type StreamSources,
} from '@slipway/fleet/stream-discovery';
import {
  createRegistry,
  isRegistryError,
  parsePullSecret,
  type Registry,
  type RegistryOptions,
} from '@slipway/registry';

/** Images that are asked about at once. */
const AT_ONCE = 8;

export interface ReadOptions {
  readonly registry: Pick<Registry, 'inspect' | 'readFile'>;
  readonly signal?: AbortSignal | undefined;
}

/** One for each source that there is, from the lowest to the highest precedence. */
export async function readSources(sources: StreamSources, options: ReadOptions): Promise<SourceReading[]> {
  const { commandLine, configMap, release } = sources;
  const readings: SourceReading[] = [];
  if (commandLine !== null) {
    readings.push(await orFailed('command line', options, () => readPair('command line', commandLine, null, options)));
  }
  if (configMap !== null) {
    const name = 'ConfigMap machine-config-osimageurl';
    readings.push(await orFailed(name, options, () => readPair(name, configMap, configMap.version, options)));
  }
  if (release !== null) readings.push(await orFailed('release image', options, () => readRelease(release, options)));
  return readings;
}

async function orFailed(
  name: SourceName,
  { signal }: ReadOptions,
  read: () => Promise<SourceReading>,
): Promise<SourceReading> {
  try {
    return await read();
  } catch (error) {
    signal?.throwIfAborted();
    // Whatever a registry does is foreseen; anything else is a bug.
    if (!isRegistryError(error)) throw error;
    return { name, ok: false, problem: formatProblem(error) };
  }
}

async function readPair(
  name: SourceName,
  { osImage, osExtensionsImage }: ImagePair,
  version: string | null,
  options: ReadOptions,
): Promise<SourceReading> {
  const named: NamedImage[] = [
    ...(osImage === null ? [] : [{ reference: osImage, tag: null, annotations: {}, role: 'os' as const }]),
    ...(osExtensionsImage === null
      ? []
      : [{ reference: osExtensionsImage, tag: null, annotations: {}, role: 'extensions' as const }]),
  ];
  return { name, ok: true, images: await inspectAll(named, options), version };
}

type Release = NonNullable<StreamSources['release']>;

async function readRelease(release: Release, options: ReadOptions): Promise<SourceReading> {
  const name = 'release image';
  const content = 'imageReferences' in release ? release.imageReferences : await extract(release.image, options);
  const failed = (problem: string): SourceReading => ({ name, ok: false, problem: `${which(release)}: ${problem}` });
  if (content === null) return failed(`expected /${imageReferencesPath} in it, found none: it is no release image`);
  const read = readImageReferences(content);
  if (!read.ok) return failed(read.problem);
  const { tags, version } = read.imageReferences;
  const candidates = tags.filter(isCandidate);
  if (candidates.length > MOST_CANDIDATES) {
    return failed(`expected at most ${MOST_CANDIDATES} tags of OS images, found ${candidates.length}`);
  }
  const named = candidates.map(({ reference, annotations, name: tag }) => ({
    reference,
    tag,
    annotations,
    role: null,
  }));
  return { name, ok: true, images: await inspectAll(named, options), version };
}

const extract = (image: string, { registry, signal }: ReadOptions): Promise<Uint8Array | null> =>
  registry.readFile(image, imageReferencesPath, { maxBytes: MAX_REFERENCES_BYTES, signal });

const which = (release: Release): string =>
  'image' in release ? release.image : 'the image references of the release';

type NamedImage = Omit<SourceImage, 'labels'>;

async function inspectAll(named: readonly NamedImage[], { registry, signal }: ReadOptions): Promise<SourceImage[]> {
  const images: SourceImage[] = [];
  for (let at = 0; at < named.length; at += AT_ONCE) {
    const some = named.slice(at, at + AT_ONCE).map(async ({ reference: asked, tag, annotations, role }) => {
      // By the digest that the registry gives: a tag may mean another image tomorrow.
      const { reference, labels } = await registry.inspect(asked, { signal });
      return { reference, tag, annotations, labels, role };
    });
    images.push(...(await allOrFirstFailure(some)));
  }
  return images;
}

/** The first in their order: which one fails soonest differs from try to try, and what is told would change with it. */
async function allOrFirstFailure<T>(work: readonly Promise<T>[]): Promise<T[]> {
  // Until the last is done, so that nothing of this try is under way in the next.
  await Promise.allSettled(work);
  const results: T[] = [];
  for (const each of work) results.push(await each);
  return results;
}

// The registry client of the controllers: made anew when the pull secret of the cluster changes.

/** From the text of a pull secret; null: the cluster has none. Throws errors with codes where it cannot be read. */
export type MakeRegistry = (pullSecret: string | null) => Registry;

export const registryWith =
  (options: Omit<RegistryOptions, 'credentials'>): MakeRegistry =>
  (pullSecret) =>
    createRegistry({ ...options, ...(pullSecret !== null && { credentials: parsePullSecret(pullSecret) }) });

export interface KeptRegistry {
  of(secret: Secret | undefined): Registry;
  close(this: void): void;
}

const pullSecretKey = '.dockerconfigjson';

export function keepRegistry(make: MakeRegistry): KeptRegistry {
  let kept: { readonly digest: string; readonly registry: Registry } | undefined;
  function close(): void {
    void kept?.registry.close().catch(() => {});
    kept = undefined;
  }
  return {
    of(secret) {
      const text = pullSecretIn(secret);
      const digest = digestOfPullSecret(secret);
      if (kept?.digest === digest) return kept.registry;
      const registry = make(text);
      close();
      kept = { digest, registry };
      return registry;
    },
    close,
  };
}

function pullSecretIn(secret: Secret | undefined): string | null {
  const encoded = secret?.data?.[pullSecretKey];
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString('utf8');
}

/** Tells one from another, and nothing of what it says. */
export const digestOfPullSecret = (secret: Secret | undefined): string => sha256(secret?.data?.[pullSecretKey] ?? '');
