// Where images are brought to the platform by people, under a name of their choice, the name is all that can be seen of
// them. So what we ask people to import is named after its version: the name tells when it was done.
import { noImage, notOurs } from './answers.ts';
import type { Artifact, ImageQuestion, ImageVerdict } from '../verdict.ts';

/** A version at the end of a name, with dots or, where a platform has no dots in names, without. */
const versionAtEnd = /-\d+[.-](?:\d+[.-]\d{8,}|\d{8}[.-]\d+)[.-]\d+$/;

export interface NamedImage {
  /** Its name in the spec, as it is there. */
  readonly current: string;
  /** The installer made it, under a name that only it gives. */
  readonly isInstallers: boolean;
  /** What to bring; null: the release has none. `place`: where it would be, for people. */
  readonly artifact: Artifact | null;
  readonly place: string;
  /** The name that the new one gets. */
  readonly nameOf: (version: string) => string;
  readonly commands: (artifact: Artifact, to: string) => readonly string[];
}

export function importedImage(image: NamedImage, question: ImageQuestion): ImageVerdict {
  const { current, artifact, place, isInstallers, nameOf, commands } = image;
  const to = artifact === null ? '' : nameOf(artifact.version);
  if (artifact !== null && current === to) return { type: 'current', image: current, version: artifact.version };
  if (!isInstallers && !question.isAdopted) {
    return notOurs(current, `Image ${current} was not made by the installer of this cluster, going by its name.`);
  }
  if (artifact === null) return noImage(current, question, place);
  return { type: 'manual', image: current, to, artifact, commands: commands(artifact, to) };
}

/** The name as it is, with its version in place of another, or after it. */
export function nameWithVersion(name: string, version: string, longest: number): string {
  if (name.endsWith(`-${version}`)) return name;
  return `${name.replace(versionAtEnd, '').slice(0, longest - version.length - 1)}-${version}`;
}

/** The installer names images after the cluster: `<cluster>-rhcos`, and on some platforms something more. */
export const isNamedByInstaller = (name: string, { infrastructureName }: ImageQuestion): boolean =>
  infrastructureName !== '' && /^-rhcos(?:-|$)/.test(afterPrefix(name, infrastructureName));

const afterPrefix = (name: string, prefix: string): string =>
  name.startsWith(prefix) ? name.slice(prefix.length) : '';
