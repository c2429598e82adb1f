// A file of the payload's stream metadata that is brought to a platform by hand.
import { textAt } from '../json-path.ts';
import type { Artifact, JsonObject } from '../verdict.ts';

const LONGEST_LOCATION = 2048;

/** Null: the stream has none for the architecture, or one that cannot be checked after its download. */
export function artifactOf(images: JsonObject, platform: string, format: string): Artifact | null {
  const disk = ['artifacts', platform, 'formats', format, 'disk'] as const;
  const location = textAt(images, ...disk, 'location');
  const sha256 = textAt(images, ...disk, 'sha256');
  const version = textAt(images, 'artifacts', platform, 'release');
  if (!isLocation(location) || !isSha256(sha256) || !/^[\w.-]+$/.test(version)) return null;
  const uncompressed = textAt(images, ...disk, 'uncompressed-sha256');
  return { location, sha256, uncompressedSha256: isSha256(uncompressed) ? uncompressed : null, version };
}

/** Name of the file that a download of it makes. */
export const fileOf = ({ location }: Artifact): string => new URL(location).pathname.split('/').at(-1) ?? '';

const isSha256 = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Safe to show and to give to a shell in quotes. */
const isLocation = (text: string): boolean =>
  text.length <= LONGEST_LOCATION && /^https?:\/\/[\w.:[\]-]+\/[\w./~%+@:-]*[\w~-]$/.test(text) && URL.canParse(text);
