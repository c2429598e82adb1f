// An artifact of the payload's stream metadata that a user imports into a platform by hand.
import { type JsonObject, textAt } from '../json.ts';
import {
  type Artifact,
  type ImageQuestion,
  type ImageVerdict,
  type MachineResource,
  noImage,
  notOurs,
  unknownImage,
} from '../verdict.ts';

const MAX_LOCATION_LENGTH = 2048;

/** Null: the stream has none for the architecture, or its location, checksum or version is invalid. */
export function readArtifact(images: JsonObject, platform: string, format: string): Artifact | null {
  const disk = ['artifacts', platform, 'formats', format, 'disk'] as const;
  const location = textAt(images, ...disk, 'location');
  const sha256 = textAt(images, ...disk, 'sha256');
  const version = textAt(images, 'artifacts', platform, 'release');
  if (!isLocation(location) || !isSha256(sha256) || !/^[\w.-]+$/.test(version)) return null;
  const uncompressed = textAt(images, ...disk, 'uncompressed-sha256');
  return { location, sha256, uncompressedSha256: isSha256(uncompressed) ? uncompressed : null, version };
}

/** Name of the downloaded file. */
export const toFileName = ({ location }: Artifact): string => new URL(location).pathname.split('/').at(-1) ?? '';

const isSha256 = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Safe to print, and to pass to a shell in quotes. */
const isLocation = (text: string): boolean =>
  text.length <= MAX_LOCATION_LENGTH &&
  /^https?:\/\/[\w.:[\]-]+\/[\w./~%+@:-]*[\w~-]$/.test(text) &&
  URL.canParse(text);

// Human-readable commands, built from specs and stream metadata. Their names are untrusted: anything that a shell would
// not read as one word is quoted.

/** One word of a command, whatever it contains. Control characters become `?`: no platform allows them in names. */
export const word = (text: string): string => {
  const visible = text.replaceAll(/\p{C}/gu, '?');
  return /^[\w./:@%+=,-]+$/.test(visible) ? visible : `'${visible.replaceAll("'", String.raw`'\''`)}'`;
};

/** Downloads an artifact, unpacks it and verifies its checksum. `file`: the resulting file. */
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

/** Makes a MachineSet use the imported image. `value`: the changed fields of the providerSpec. */
export const useImage = ({ namespace, name }: MachineResource, value: JsonObject): string => {
  const patch = { spec: { template: { spec: { providerSpec: { value } } } } };
  return `kubectl --namespace ${word(namespace)} patch machinesets.machine.openshift.io ${word(name)} --type merge --patch ${word(JSON.stringify(patch))}`;
};

// Where users import images under names of their choice, the name is all that we can see of an image. So the commands
// name it after its version, and the name shows that the import is done.

/** A version at the end of a name: with dots, or without on platforms that allow no dots in names. */
const VERSION_AT_END = /-\d+[.-](?:\d+[.-]\d{8,}|\d{8}[.-]\d+)[.-]\d+$/;

export interface NamedImage {
  /** Its name in the spec. */
  readonly current: string;
  /** Created by the installer, as its name shows. */
  readonly isInstallers: boolean;
  /** An id, which shows nothing. */
  readonly isId?: boolean;
  /** What to import; null: the release has none. `place`: its path in stream metadata, for messages. */
  readonly artifact: Artifact | null;
  readonly place: string;
  /** The name of the new image. */
  readonly nameOf: (version: string) => string;
  readonly commands: (artifact: Artifact, to: string) => readonly string[];
}

export function importedImage(image: NamedImage, question: ImageQuestion): ImageVerdict {
  const { current, artifact, place, isInstallers, isId = false, nameOf, commands } = image;
  const to = artifact === null ? '' : nameOf(artifact.version);
  if (artifact !== null && current === to) return { type: 'current', image: current, version: artifact.version };
  if (!isInstallers && !question.isAdopted) {
    if (isId) return unknownImage(current, question);
    return notOurs(current, `Image ${current} was not created by the installer of this cluster, judging by its name.`);
  }
  if (artifact === null) return noImage(current, question, place);
  return { type: 'manual', image: current, to, artifact, commands: commands(artifact, to) };
}

/** The name with its version replaced, or appended if it has none. */
export function nameWithVersion(name: string, version: string, longest: number): string {
  if (name.endsWith(`-${version}`)) return name;
  return `${name.replace(VERSION_AT_END, '').slice(0, longest - version.length - 1)}-${version}`;
}

/** The installer names images after the cluster: `<cluster>-rhcos`, with a suffix on some platforms. */
export const isNamedByInstaller = (name: string, { infrastructureName }: ImageQuestion): boolean =>
  infrastructureName !== '' && /^-rhcos(?:-|$)/.test(afterPrefix(name, infrastructureName));

const afterPrefix = (name: string, prefix: string): string =>
  name.startsWith(prefix) ? name.slice(prefix.length) : '';

const MAX_BASE_LENGTH = 200;

/**
 * Makes machines use the imported image. Templates are immutable, so the commands create another one and reference it.
 * `fields`: what changes in spec.template.spec; null removes a field.
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
