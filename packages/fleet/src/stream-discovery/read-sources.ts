// Queries registries for the images of the sources. A failing source is a value: the others may still work.
import { type CodedProblem, formatProblem } from '../problems.ts';
import { type SourceImage, type SourceName, type SourceReading } from './discover-streams.ts';
import {
  IMAGE_REFERENCES_PATH,
  isCandidate,
  MAX_REFERENCES_BYTES,
  MAX_CANDIDATES,
  readImageReferences,
} from './image-references.ts';
import { type ImagePair, listTagged, type StreamSources } from './stream-sources.ts';

/** How many images are queried concurrently. */
const AT_ONCE = 8;

/** Access to registries. */
export interface ImageReader {
  inspect(
    reference: string,
    options: { signal?: AbortSignal | undefined },
  ): Promise<{ reference: string; labels: Readonly<Record<string, string>> }>;
  /** Null: the file does not exist. */
  readFile(
    reference: string,
    path: string,
    options: { maxBytes: number; signal?: AbortSignal | undefined },
  ): Promise<Uint8Array | null>;
}

export interface ReadOptions {
  readonly registry: ImageReader;
  /** Whether this is an error of a registry; any other error is a bug. */
  readonly isRegistryError: (error: unknown) => error is Error & CodedProblem;
  readonly signal?: AbortSignal | undefined;
}

/** One for each existing source, from the lowest to the highest precedence. */
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

/** What each tag of the sources stands for. `failed` gets the error of each that is missing. */
export async function resolveTags(
  sources: StreamSources,
  { registry, signal, failed }: Pick<ReadOptions, 'registry' | 'signal'> & { failed: (error: unknown) => void },
): Promise<ReadonlyMap<string, string>> {
  const byTag = new Map<string, string>();
  for (const image of listTagged(sources)) {
    try {
      byTag.set(image, (await registry.inspect(image, { signal })).reference);
    } catch (error) {
      failed(error);
    }
  }
  return byTag;
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
  if (content === null)
    return failed(`expected /${IMAGE_REFERENCES_PATH} in the image, found none: it is not a release image`);
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
      // By the digest from the registry: a tag may point to another image tomorrow.
      const { reference, labels } = await registry.inspect(asked, { signal });
      return { reference, tag, annotations, labels, role };
    });
    images.push(...(await allOrFirstFailure(some)));
  }
  return images;
}

/** The first failure in list order: which one fails soonest varies between tries, and the reported error would too. */
async function allOrFirstFailure<T>(work: readonly Promise<T>[]): Promise<T[]> {
  // Wait for all, so that nothing of this try is still running in the next one.
  await Promise.allSettled(work);
  const results: T[] = [];
  for (const each of work) results.push(await each);
  return results;
}
