// All images of a release: itself, and every one that its payload names, those of the OS among them.
import { MAX_REFERENCES_BYTES } from '@slipway/fleet/stream-discovery';
import { imageReferencesPath, readImageReferences } from '@slipway/fleet/stream-discovery';
import type { Registry } from '@slipway/registry';
import { ProblemList } from '@slipway/fleet';
import { imageProblem } from './image-list.ts';

export interface ReleaseImages {
  /** The release image itself, by digest. */
  readonly release: string;
  /** Of the platform; null: the payload does not say. */
  readonly version: string | null;
  /** By name, each once, the release image among them. */
  readonly images: readonly string[];
}

export async function releaseImages(
  asked: string,
  registry: Pick<Registry, 'inspect' | 'readFile'>,
): Promise<ReleaseImages> {
  // By the digest that the registry gives: a tag may mean another image when the machines pull it.
  const { reference: release } = await registry.inspect(asked);
  const content = await registry.readFile(release, imageReferencesPath, { maxBytes: MAX_REFERENCES_BYTES });
  if (content === null) {
    throw refused([`${release}: expected /${imageReferencesPath} in it, found none: it is no release image`]);
  }
  const read = readImageReferences(content);
  if (!read.ok) throw refused([`${release}: ${read.problem}`]);
  const { version, tags } = read.imageReferences;
  const images = [...new Set([release, ...tags.map(({ reference }) => reference)])].sort();
  const problems = images.flatMap((image) => imageProblem(image) ?? []);
  if (problems.length > 0) throw refused(problems.map((problem) => `${release}: ${problem}`));
  return { release, version, images };
}

const refused = (problems: readonly string[]): ProblemList => ProblemList.of('SLW_CLI_PIN_IMAGES', problems);
