// The images that somebody wrote down to be pinned: one by digest a line, what follows a # is for people.
import { pinnedImageSetKind, validate } from '@slipway/api';
import { ProblemList } from '@slipway/fleet';

/** As many as one PinnedImageSet may have. */
export const MOST_IMAGES = 500;
/** 20 sets; ten payloads of today. An end for a file given by mistake. */
const MOST_LINES = 10_000;

/** In the order of the file, each once. Throws what is wrong with every line that cannot be used. */
export function readImageList(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/(^|\s)#.*$/, '').trim());
  const found = new Map<string, number>();
  for (const [index, image] of lines.entries()) if (image !== '' && !found.has(image)) found.set(image, index + 1);
  const images = [...found.keys()];
  if (images.length === 0) throw refused(['expected at least one image, found none: one by digest a line']);
  if (images.length > MOST_LINES) throw refused([`expected at most ${MOST_LINES} images, found ${images.length}`]);
  const problems = images.flatMap((image) => {
    const problem = imageProblem(image);
    return problem === null ? [] : [`line ${found.get(image)}: ${problem}`];
  });
  if (problems.length > 0) throw refused(problems);
  return images;
}

const refused = (problems: readonly string[]): ProblemList => ProblemList.of('SLW_CLI_PIN_IMAGES', problems);

/** What the API would say of it; null: it takes it. */
export function imageProblem(image: string): string | null {
  const checked = validate(pinnedImageSetKind, {
    apiVersion: `${pinnedImageSetKind.group}/v1`,
    kind: pinnedImageSetKind.kind,
    metadata: { name: 'images' },
    spec: { pinnedImages: [{ name: image }] },
  });
  if (checked.ok) return null;
  return `${JSON.stringify(image.slice(0, 200))} ${checked.problems.map(({ message }) => message).join('; ')}`;
}
