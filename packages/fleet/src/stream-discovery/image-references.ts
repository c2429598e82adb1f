// The list of images of a release payload: an ImageStream, in a file of the release image.
import { isRecord } from '@slipway/base/json';
import { STREAM_CLASS_LABEL } from '../os-streams/runs.ts';
import type { SourceImage } from './discover-streams.ts';

/** Its path in a release image. */
export const IMAGE_REFERENCES_PATH = 'release-manifests/image-references';
/** A payload has 200 tags in 200 kB today. */
export const MAX_REFERENCES_BYTES = 4 * 1024 * 1024;
const MAX_TAGS = 2000;
/** The longest image reference that an OSImageStream accepts. */
const MAX_REFERENCE_LENGTH = 447;
const MAX_TAG_LENGTH = 253;
const MAX_SHOWN_LENGTH = 80;

export interface ImageTag {
  readonly name: string;
  /** The reference to pull the image by. */
  readonly reference: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ImageReferences {
  /** Of the platform; null if not specified. */
  readonly version: string | null;
  readonly tags: readonly ImageTag[];
}

export type ReadImageReferences =
  | { readonly ok: true; readonly imageReferences: ImageReferences }
  | { readonly ok: false; readonly problem: string };

class Refused extends Error {}

/** All tags that point to an image in a registry. */
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
  if (bytes > MAX_REFERENCES_BYTES) throw new Refused(`expected at most ${MAX_REFERENCES_BYTES} bytes, found ${bytes}`);
  try {
    return JSON.parse(
      typeof content === 'string' ? content : new TextDecoder('utf-8', { fatal: true }).decode(content),
    );
  } catch (error) {
    throw new Refused(`expected an ImageStream in JSON, found invalid JSON: ${String(error).slice(0, 200)}`);
  }
}

/** Other kinds of tags point to nothing that can be pulled. */
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
    if (typeof text !== 'string') throw refused(`${path}["${key}"]`, 'a string', text);
    return [key, text] as const;
  });
  return Object.fromEntries(entries);
}

/** The ImageStream of a payload is named after its version. */
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
  if (typeof value !== 'string' || value === '') throw refused(path, 'a string', value);
  if (value.length > longest)
    throw new Refused(`${path}: expected at most ${longest} characters, found ${value.length}`);
  return value;
}

// The tags of a payload that may be OS images: only these, out of two hundred, are queried in their registry.

/** The most tags to query: a hundred streams have two images each. */
export const MAX_CANDIDATES = 200;

const SOURCE_ANNOTATION = 'io.openshift.build.source-location';
/** Not openshift/osin and the like. */
const OS_SOURCES = /github\.com[/:]openshift\/os(?![\w-])/;
const namePatterns = [
  // As streams were designed: rhel9-coreos, rhel10-coreos-extensions, stream-coreos.
  /^(rhel[\w.+-]*|stream)-coreos[\w.+-]*(-extensions[\w.+-]*)?$/,
  // As current payloads name them: rhel-coreos, rhel-coreos-10-extensions.
  /^(rhel|stream)[a-zA-Z0-9.-]*-coreos[a-zA-Z0-9.-]*(-extensions[a-zA-Z0-9.-]*)?$/,
];

/** Some payloads have no annotations, so either is enough. */
export const isCandidate = ({ name, annotations }: Pick<ImageTag, 'name' | 'annotations'>): boolean =>
  OS_SOURCES.test(annotations[SOURCE_ANNOTATION] ?? '') || hasNameOfOs(name);

const hasNameOfOs = (tag: string): boolean => namePatterns.some((pattern) => pattern.test(tag));

// The role of a payload image, from its labels.

const OS_LABEL = 'containers.bootc';
const EXTENSIONS_LABEL = 'io.openshift.os.extensions';

export type Role = 'os' | 'extensions';

/**
 * From the labels, else from the source, else from the tag. `contradiction`: the source and the labels disagree. Null:
 * neither role.
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

/** Null: it has no such label. */
export function streamOfImage(labels: SourceImage['labels']): string | null {
  const name = labels[STREAM_CLASS_LABEL]?.trim() ?? '';
  return name === '' ? null : name;
}
