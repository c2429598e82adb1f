// The images to pin, by file or by release, and what a registry says of each.
import { pinnedImageSetKind, validate } from '@slipway/api';
import { ProblemList, type SizedImage } from '@slipway/fleet';
import { IMAGE_REFERENCES_PATH, MAX_REFERENCES_BYTES, readImageReferences } from '@slipway/fleet/stream-discovery';
import { isRegistryError, type Registry } from '@slipway/registry';

/** As many as one PinnedImageSet may have. */
export const MAX_IMAGES = 500;
/** 20 sets; ten payloads of today. An end for a file given by mistake. */
const MAX_LINES = 10_000;

/** One image by digest a line; what follows a # is for people. In the order of the file, each once. Throws what is wrong with every line that cannot be used. */
export function readImageList(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/(^|\s)#.*$/, '').trim());
  const found = new Map<string, number>();
  for (const [index, image] of lines.entries()) if (image !== '' && !found.has(image)) found.set(image, index + 1);
  const images = [...found.keys()];
  if (images.length === 0) throw refused(['expected at least one image, found none: one by digest a line']);
  if (images.length > MAX_LINES) throw refused([`expected at most ${MAX_LINES} images, found ${images.length}`]);
  const problems = images.flatMap((image) => {
    const problem = imageProblem(image);
    return problem === null ? [] : [`line ${found.get(image)}: ${problem}`];
  });
  if (problems.length > 0) throw refused(problems);
  return images;
}

const refused = (problems: readonly string[]): ProblemList => ProblemList.of('SLW_CLI_PIN_IMAGES', problems);

/** What the API would say of it; null: it takes it. */
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

/** Images that are asked about at once; the client of the registry has a limit of its own for each host. */
const AT_ONCE = 8;

/** Before any machine asks: how large each is, and whether it is there at all. */
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
        // Whatever a registry does is foreseen; anything else is a bug.
        if (!isRegistryError(error)) throw error;
        failures.set(image, error);
        // One that does not answer for one image does not for five hundred others.
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
  /** Of the platform; null: the payload does not say. */
  readonly version: string | null;
  /** By name, each once, the release image among them. */
  readonly images: readonly string[];
}

/** The release image itself, and every image that its payload names, those of the OS among them. */
export async function releaseImages(
  asked: string,
  registry: Pick<Registry, 'inspect' | 'readFile'>,
): Promise<ReleaseImages> {
  // By the digest that the registry gives: a tag may mean another image when the machines pull it.
  const { reference: release } = await registry.inspect(asked);
  const content = await registry.readFile(release, IMAGE_REFERENCES_PATH, { maxBytes: MAX_REFERENCES_BYTES });
  if (content === null) {
    throw refused([`${release}: expected /${IMAGE_REFERENCES_PATH} in it, found none: it is no release image`]);
  }
  const read = readImageReferences(content);
  if (!read.ok) throw refused([`${release}: ${read.problem}`]);
  const { version, tags } = read.imageReferences;
  const images = [...new Set([release, ...tags.map(({ reference }) => reference)])].sort();
  const problems = images.flatMap((image) => imageProblem(image) ?? []);
  if (problems.length > 0) throw refused(problems.map((problem) => `${release}: ${problem}`));
  return { release, version, images };
}
