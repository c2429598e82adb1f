// Asks registries about the images that the sources name. A source that fails is a value: others may still do.
import { type CodedProblem, formatProblem } from '../problems.ts';
import { type SourceImage, type SourceName, type SourceReading } from './discover-streams.ts';
import {
  IMAGE_REFERENCES_PATH,
  isCandidate,
  MAX_REFERENCES_BYTES,
  MAX_CANDIDATES,
  readImageReferences,
} from './image-references.ts';
import { type ImagePair, type StreamSources } from './stream-sources.ts';

/** Images that are asked about at once. */
const AT_ONCE = 8;

/** What asks registries. */
export interface ImageReader {
  inspect(
    reference: string,
    options: { signal?: AbortSignal | undefined },
  ): Promise<{ reference: string; labels: Readonly<Record<string, string>> }>;
  /** Null: there is no such file. */
  readFile(
    reference: string,
    path: string,
    options: { maxBytes: number; signal?: AbortSignal | undefined },
  ): Promise<Uint8Array | null>;
}

export interface ReadOptions {
  readonly registry: ImageReader;
  /** Whether a registry failed as registries do; anything else is a bug. */
  readonly isRegistryError: (error: unknown) => error is Error & CodedProblem;
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
  { isRegistryError, signal }: ReadOptions,
  read: () => Promise<SourceReading>,
): Promise<SourceReading> {
  try {
    return await read();
  } catch (error) {
    signal?.throwIfAborted();
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
  if (content === null) return failed(`expected /${IMAGE_REFERENCES_PATH} in it, found none: it is no release image`);
  const read = readImageReferences(content);
  if (!read.ok) return failed(read.problem);
  const { tags, version } = read.imageReferences;
  const candidates = tags.filter(isCandidate);
  if (candidates.length > MAX_CANDIDATES) {
    return failed(`expected at most ${MAX_CANDIDATES} tags of OS images, found ${candidates.length}`);
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
  registry.readFile(image, IMAGE_REFERENCES_PATH, { maxBytes: MAX_REFERENCES_BYTES, signal });

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
