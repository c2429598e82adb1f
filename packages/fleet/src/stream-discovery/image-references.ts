// The list of images of a release payload: an ImageStream, in a file of the release image.
import { isRecord } from '@slipway/base/json';
import { STREAM_CLASS_LABEL } from '../os-streams/runs.ts';
import type { SourceImage } from './discover-streams.ts';

/** Where a release image has it. */
export const IMAGE_REFERENCES_PATH = 'release-manifests/image-references';
/** A payload of today has 200 tags in 200 kB. */
export const MAX_REFERENCES_BYTES = 4 * 1024 * 1024;
const MAX_TAGS = 2000;
/** The longest name of an image that an OSImageStream can hold. */
const MAX_REFERENCE_LENGTH = 447;
const MAX_TAG_LENGTH = 253;
const MAX_SHOWN_LENGTH = 80;

export interface ImageTag {
  readonly name: string;
  /** What an image is pulled by. */
  readonly reference: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ImageReferences {
  /** Of the platform; null: it does not say. */
  readonly version: string | null;
  readonly tags: readonly ImageTag[];
}

export type ReadImageReferences =
  | { readonly ok: true; readonly imageReferences: ImageReferences }
  | { readonly ok: false; readonly problem: string };

class Refused extends Error {}

/** Every tag that stands for an image of a registry. */
export function readImageReferences(content: Uint8Array | string): ReadImageReferences {
  try {
    const stream = recordAt(parse(content), '');
    const { kind } = stream;
    if (kind !== 'ImageStream') throw refused('kind', 'ImageStream', kind);
    const spec = recordAt(stream['spec'], 'spec');
    const tags = listAt(spec['tags'], 'spec.tags').flatMap((tag, index) => tagAt(tag, `spec.tags[${index}]`));
    return { ok: true, imageReferences: { version: readVersion(stream), tags } };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, problem: `image-references: ${error.message}` };
    throw error;
  }
}

function parse(content: Uint8Array | string): unknown {
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.length;
  if (bytes > MAX_REFERENCES_BYTES)
    throw new Refused(`it has ${bytes} bytes, expected at most ${MAX_REFERENCES_BYTES}`);
  try {
    return JSON.parse(
      typeof content === 'string' ? content : new TextDecoder('utf-8', { fatal: true }).decode(content),
    );
  } catch (error) {
    throw new Refused(
      `expected an ImageStream in JSON, found what cannot be read as JSON: ${String(error).slice(0, 200)}`,
    );
  }
}

/** Other sorts of tags name no image that could be pulled. */
function tagAt(value: unknown, path: string): ImageTag[] {
  const tag = recordAt(value, path);
  const name = textAt(tag['name'], `${path}.name`, MAX_TAG_LENGTH);
  if (tag['from'] === undefined || tag['from'] === null) return [];
  const from = recordAt(tag['from'], `${path}.from`);
  if (from['kind'] !== 'DockerImage') return [];
  const reference = textAt(from['name'], `${path}.from.name`, MAX_REFERENCE_LENGTH);
  const annotations = annotationsAt(tag['annotations'], `${path}.annotations`);
  return [{ name, reference, annotations }];
}

function annotationsAt(value: unknown, path: string): Record<string, string> {
  if (value === undefined || value === null) return {};
  const entries = Object.entries(recordAt(value, path)).map(([key, text]) => {
    if (typeof text !== 'string') throw refused(`${path}["${key}"]`, 'a text', text);
    return [key, text] as const;
  });
  return Object.fromEntries(entries);
}

/** An ImageStream of a payload is named after the version. */
function readVersion(stream: Record<string, unknown>): string | null {
  if (stream['metadata'] === undefined || stream['metadata'] === null) return null;
  const { name } = recordAt(stream['metadata'], 'metadata');
  return typeof name === 'string' && /^\d+\.\d+/.test(name) ? name.slice(0, MAX_TAG_LENGTH) : null;
}

const refused = (path: string, expected: string, found: unknown): Refused =>
  new Refused(`${path === '' ? 'the file' : path}: expected ${expected}, found ${shown(found)}`);

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MAX_SHOWN_LENGTH);

function recordAt(value: unknown, path: string): Record<string, unknown> {
  if (!isRecord(value)) throw refused(path, 'an object', value);
  return value;
}

function listAt(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw refused(path, 'a list', value);
  if (value.length > MAX_TAGS) throw new Refused(`${path}: expected at most ${MAX_TAGS} tags, found ${value.length}`);
  return value;
}

function textAt(value: unknown, path: string, longest: number): string {
  if (typeof value !== 'string' || value === '') throw refused(path, 'a text', value);
  if (value.length > longest)
    throw new Refused(`${path}: expected at most ${longest} characters, found ${value.length}`);
  return value;
}

// Which tags of a payload may be OS images: only these are looked at in their registry, out of two hundred.

/** No more than these are asked about: a hundred streams have two images each. */
export const MAX_CANDIDATES = 200;

const SOURCE_ANNOTATION = 'io.openshift.build.source-location';
/** Not openshift/osin and the like. */
const OS_SOURCES = /github\.com[/:]openshift\/os(?![\w-])/;
const namePatterns = [
  // As streams were designed: rhel9-coreos, rhel10-coreos-extensions, stream-coreos.
  /^(rhel[\w.+-]*|stream)-coreos[\w.+-]*(-extensions[\w.+-]*)?$/,
  // As payloads have them today: rhel-coreos, rhel-coreos-10-extensions.
  /^(rhel|stream)[a-zA-Z0-9.-]*-coreos[a-zA-Z0-9.-]*(-extensions[a-zA-Z0-9.-]*)?$/,
];

/** Payloads without annotations exist, so either is enough. */
export const isCandidate = ({ name, annotations }: Pick<ImageTag, 'name' | 'annotations'>): boolean =>
  OS_SOURCES.test(annotations[SOURCE_ANNOTATION] ?? '') || hasNameOfOs(name);

const hasNameOfOs = (tag: string): boolean => namePatterns.some((pattern) => pattern.test(tag));

// What an image of a payload is, by its labels.

const OS_LABEL = 'containers.bootc';
const EXTENSIONS_LABEL = 'io.openshift.os.extensions';

export type Role = 'os' | 'extensions';

/**
 * The labels say it; where they do not, the source, and then the tag. `contradiction`: a source says one thing and the
 * labels another. Null: it is neither.
 */
export function detectRole({
  labels,
  tag,
  role,
}: Pick<SourceImage, 'labels' | 'tag' | 'role'>): Role | 'contradiction' | null {
  const labelled = roleOfLabels(labels);
  if (role !== null) return labelled === null || labelled === role ? role : 'contradiction';
  return labelled ?? (tag === null ? null : roleOfTag(tag));
}

function roleOfLabels(labels: SourceImage['labels']): Role | null {
  if (isSet(labels[OS_LABEL])) return 'os';
  return isSet(labels[EXTENSIONS_LABEL]) ? 'extensions' : null;
}

const isSet = (value: string | undefined): boolean => value === '1' || value?.toLowerCase() === 'true';

function roleOfTag(tag: string): Role | null {
  if (!hasNameOfOs(tag)) return null;
  return tag.includes('-extensions') ? 'extensions' : 'os';
}

/** Null: it has no label. */
export function streamOfImage(labels: SourceImage['labels']): string | null {
  const name = labels[STREAM_CLASS_LABEL]?.trim() ?? '';
  return name === '' ? null : name;
}
