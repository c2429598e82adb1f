// A file of the payload's stream metadata that is brought to a platform by hand.
import { type JsonObject, textAt } from '../json.ts';
import {
  type Artifact,
  type ImageQuestion,
  type ImageVerdict,
  type MachineResource,
  noImage,
  notOurs,
} from '../verdict.ts';

const MAX_LOCATION_LENGTH = 2048;

/** Null: the stream has none for the architecture, or one that cannot be checked after its download. */
export function readArtifact(images: JsonObject, platform: string, format: string): Artifact | null {
  const disk = ['artifacts', platform, 'formats', format, 'disk'] as const;
  const location = textAt(images, ...disk, 'location');
  const sha256 = textAt(images, ...disk, 'sha256');
  const version = textAt(images, 'artifacts', platform, 'release');
  if (!isLocation(location) || !isSha256(sha256) || !/^[\w.-]+$/.test(version)) return null;
  const uncompressed = textAt(images, ...disk, 'uncompressed-sha256');
  return { location, sha256, uncompressedSha256: isSha256(uncompressed) ? uncompressed : null, version };
}

/** Name of the file that a download of it makes. */
export const toFileName = ({ location }: Artifact): string => new URL(location).pathname.split('/').at(-1) ?? '';

const isSha256 = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Safe to show and to give to a shell in quotes. */
const isLocation = (text: string): boolean =>
  text.length <= MAX_LOCATION_LENGTH &&
  /^https?:\/\/[\w.:[\]-]+\/[\w./~%+@:-]*[\w~-]$/.test(text) &&
  URL.canParse(text);

// Commands for people, made of what specs and stream metadata say. Names come from outside: what a shell would take for more
// than a word is quoted.

/** One word of a command, whatever is in it. Characters that would steer a terminal are in no name of any platform. */
export const word = (text: string): string => {
  const visible = text.replaceAll(/\p{C}/gu, '?');
  return /^[\w./:@%+=,-]+$/.test(visible) ? visible : `'${visible.replaceAll("'", String.raw`'\''`)}'`;
};

/** Gets an artifact, unpacked, and makes sure that it is the right one. `file`: what is there in the end. */
export function download(artifact: Artifact): { readonly file: string; readonly commands: readonly string[] } {
  const packed = toFileName(artifact);
  const get = [`curl --fail --location --remote-name ${word(artifact.location)}`, check(artifact.sha256, packed)];
  if (!packed.endsWith('.gz')) return { file: packed, commands: get };
  const file = packed.slice(0, -'.gz'.length);
  const unpack = [`gunzip ${word(packed)}`];
  if (artifact.uncompressedSha256 !== null) unpack.push(check(artifact.uncompressedSha256, file));
  return { file, commands: [...get, ...unpack] };
}

const check = (sha256: string, file: string): string => `echo ${word(`${sha256}  ${file}`)} | sha256sum --check`;

/** Lets a MachineSet use what was imported. `value`: what changes of the providerSpec. */
export const useImage = ({ namespace, name }: MachineResource, value: JsonObject): string => {
  const patch = { spec: { template: { spec: { providerSpec: { value } } } } };
  return `kubectl --namespace ${word(namespace)} patch machinesets.machine.openshift.io ${word(name)} --type merge --patch ${word(JSON.stringify(patch))}`;
};

// Where images are brought to the platform by people, under a name of their choice, the name is all that can be seen of
// them. So what we ask people to import is named after its version: the name tells when it was done.

/** A version at the end of a name, with dots or, where a platform has no dots in names, without. */
const VERSION_AT_END = /-\d+[.-](?:\d+[.-]\d{8,}|\d{8}[.-]\d+)[.-]\d+$/;

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
  return `${name.replace(VERSION_AT_END, '').slice(0, longest - version.length - 1)}-${version}`;
}

/** The installer names images after the cluster: `<cluster>-rhcos`, and on some platforms something more. */
export const isNamedByInstaller = (name: string, { infrastructureName }: ImageQuestion): boolean =>
  infrastructureName !== '' && /^-rhcos(?:-|$)/.test(afterPrefix(name, infrastructureName));

const afterPrefix = (name: string, prefix: string): string =>
  name.startsWith(prefix) ? name.slice(prefix.length) : '';

const MAX_BASE_LENGTH = 200;

/**
 * Lets machines use what was imported: a template cannot be changed, so another one is made and referred to. `fields`: what
 * changes of spec.template.spec; null takes a field away.
 */
export function templateCommands(
  { kind, namespace, name }: MachineResource,
  plural: string,
  version: string,
  fields: JsonObject,
): readonly string[] {
  const kubectl = `kubectl --namespace ${word(namespace)}`;
  const resource = `${kind.toLowerCase()}s.cluster.x-k8s.io ${word(name)}`;
  const template = `${name.slice(0, MAX_BASE_LENGTH)}-${version.replaceAll(/[^a-z0-9]+/g, '-')}`;
  const clone = `{apiVersion, kind, metadata: {name: $name}, spec} | .spec.template.spec |= (. + $fields | with_entries(select(.value != null)))`;
  const reference = { spec: { template: { spec: { infrastructureRef: { name: template } } } } };
  return [
    `TEMPLATE=$(${kubectl} get ${resource} --output jsonpath='{.spec.template.spec.infrastructureRef.name}')`,
    `${kubectl} get ${plural}.infrastructure.cluster.x-k8s.io "$TEMPLATE" --output json | jq --arg name ${word(template)} --argjson fields ${word(JSON.stringify(fields))} ${word(clone)} | ${kubectl} create --filename -`,
    `${kubectl} patch ${resource} --type merge --patch ${word(JSON.stringify(reference))}`,
  ];
}
