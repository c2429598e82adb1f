// The images to pin, from a file or a release, and their sizes from the registry.
import { pinnedImageSetKind, validate } from '@slipway/api';
import { ProblemList, type SizedImage } from '@slipway/fleet';
import { IMAGE_REFERENCES_PATH, MAX_REFERENCES_BYTES, readImageReferences } from '@slipway/fleet/stream-discovery';
import { isRegistryError, type Registry } from '@slipway/registry';

/** The limit of one PinnedImageSet. */
export const MAX_IMAGES = 500;
/** 20 sets, or ten of today's payloads. Protects against a file given by mistake. */
const MAX_LINES = 10_000;

/** Parses one image by digest per line; # starts a comment. Drops duplicates. Throws the problems of all lines. */
export function readImageList(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/(^|\s)#.*$/, '').trim());
  const found = new Map<string, number>();
  for (const [index, image] of lines.entries()) if (image !== '' && !found.has(image)) found.set(image, index + 1);
  const images = [...found.keys()];
  if (images.length === 0) throw refused(['expected one image by digest per line, found none']);
  if (images.length > MAX_LINES) throw refused([`expected at most ${MAX_LINES} images, found ${images.length}`]);
  const problems = images.flatMap((image) => {
    const problem = imageProblem(image);
    return problem === null ? [] : [`line ${found.get(image)}: ${problem}`];
  });
  if (problems.length > 0) throw refused(problems);
  return images;
}

const refused = (problems: readonly string[]): ProblemList => ProblemList.of('SLW_CLI_PIN_IMAGES', problems);

/** The problem that the API would report; null: none. */
function imageProblem(image: string): string | null {
  const checked = validate(pinnedImageSetKind, {
    apiVersion: `${pinnedImageSetKind.group}/v1`,
    kind: pinnedImageSetKind.kind,
    metadata: { name: 'images' },
    spec: { pinnedImages: [{ name: image }] },
  });
  if (checked.ok) return null;
  return `${JSON.stringify(image.slice(0, 200))} ${checked.problems.map(({ message }) => message).join('; ')}`;
}

/** Concurrent requests; the registry client also limits them per host. */
const AT_ONCE = 8;

/** The size of each image. Throws if one is missing, before any machine tries to pull it. */
export async function imageSizes(
  images: readonly string[],
  registry: Pick<Registry, 'layers'>,
  onDone: (done: number) => void,
): Promise<ReadonlyMap<string, SizedImage>> {
  const sizes = new Map<string, SizedImage>();
  const failures = new Map<string, { code: string; message: string }>();
  const waiting = [...images];
  const work = async (): Promise<void> => {
    for (let image = waiting.shift(); image !== undefined; image = waiting.shift()) {
      try {
        sizes.set(image, { layers: await registry.layers(image) });
      } catch (error) {
        // Registry errors are expected; anything else is a bug.
        if (!isRegistryError(error)) throw error;
        failures.set(image, error);
        // An unreachable registry will not answer for the other images either.
        if (error.passing) waiting.length = 0;
      }
      onDone(sizes.size);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const problems = images.flatMap((image) => failures.get(image) ?? []);
  if (problems.length > 0) throw new ProblemList(problems.map(({ code, message }) => ({ code, message })));
  return sizes;
}

export interface ReleaseImages {
  /** The release image itself, by digest. */
  readonly release: string;
  /** Version of the platform; null: the payload does not specify it. */
  readonly version: string | null;
  /** Sorted, without duplicates, including the release image. */
  readonly images: readonly string[];
}

/** The release image itself and every image of its payload, including the OS images. */
export async function releaseImages(
  asked: string,
  registry: Pick<Registry, 'inspect' | 'readFile'>,
): Promise<ReleaseImages> {
  // By digest, because a tag may refer to another image when the machines pull it.
  const { reference: release } = await registry.inspect(asked);
  const content = await registry.readFile(release, IMAGE_REFERENCES_PATH, { maxBytes: MAX_REFERENCES_BYTES });
  if (content === null) {
    throw refused([`${release}: expected a release image with /${IMAGE_REFERENCES_PATH}, found none`]);
  }
  const read = readImageReferences(content);
  if (!read.ok) throw refused([`${release}: ${read.problem}`]);
  const { version, tags } = read.imageReferences;
  const images = [...new Set([release, ...tags.map(({ reference }) => reference)])].sort();
  const problems = images.flatMap((image) => imageProblem(image) ?? []);
  if (problems.length > 0) throw refused(problems.map((problem) => `${release}: ${problem}`));
  return { release, version, images };
}
