// The boot images that a release payload ships: its ConfigMap, parsed once. Platform rules read what is below an
// architecture.
import {
  BOOT_IMAGES_CONFIG_MAP,
  bootImagesDigestAnnotation,
  bootImagesGenerationAnnotation,
  type ConfigMap,
  isSameStream,
  osStreamLabel,
} from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import { osMajor } from './boot-version.ts';
import { fieldAt, isJsonObject, objectAt, shown, textAt, type Json, type JsonObject } from './json.ts';
import { platformDefs } from './platforms/index.ts';
import { readStamp, type Stamp, stampKeys, type StampState } from './release-stamp.ts';
import type { Architecture, BootImageCode } from './verdict.ts';

/** A payload's ConfigMap has about 300 kB today; the API server accepts up to one MiB. */
export const MAX_BYTES = 4 * 1024 * 1024;
const MAX_STREAMS = 50;
const MAX_DEPTH = 32;

/** The fields of a ConfigMap that are read. */
interface ConfigMapData {
  readonly data?: Readonly<Record<string, string>> | undefined;
}

export interface BootImageConfig {
  /** Stream metadata by stream name; the key '' is a stream without a name. */
  readonly streams: ReadonlyMap<string, JsonObject>;
  /** Stream metadata for machines that follow no stream; null if there is none. */
  readonly defaultStream: JsonObject | null;
  /** The name of the default stream in `streams`; '' if absent. The name inside the metadata is stale and ignored. */
  readonly defaultName: string;
  /** Of the payload, such as 4.22.0; '' if not specified. */
  readonly releaseVersion: string;
  /** Who approved the ConfigMap for use; '' if it is not approved. */
  readonly stamp: { readonly version: string; readonly releaseVersion: string };
}

interface ConfigProblem {
  readonly ok: false;
  readonly code: BootImageCode;
  readonly message: string;
}

type ReadBootImageConfig = { readonly ok: true; readonly config: BootImageConfig } | ConfigProblem;

export type StreamImages =
  | { readonly ok: true; readonly stream: string; readonly images: JsonObject }
  | (ConfigProblem & { readonly code: 'SLW_BOOT_IMAGES_STREAM' | 'SLW_BOOT_IMAGES_ARCH' });

const REMEDIATION = 'The release payload ships this ConfigMap: restore it from the payload.';

class Refused extends Error {}

/** Null: the ConfigMap does not exist. */
export function parseBootImageConfig(configMap: ConfigMapData | null): ReadBootImageConfig {
  if (configMap === null) {
    return {
      ok: false,
      code: 'SLW_BOOT_IMAGES_MISSING',
      message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: expected the boot images of the release, found no such ConfigMap. ${REMEDIATION}`,
    };
  }
  try {
    return { ok: true, config: read(configMap.data ?? {}) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const message = `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: ${error.message}. ${REMEDIATION}`;
    return { ok: false, code: 'SLW_BOOT_IMAGES_INVALID', message };
  }
}

/**
 * The images of an OS image stream for an architecture. A null stream means machines that follow none. A named stream
 * is never replaced by another one. The only exception: a single stream without a name matches a stream name that ends
 * in the major version of its OS.
 */
export function findImages(config: BootImageConfig, stream: string | null, architecture: Architecture): StreamImages {
  const found = stream === null ? config.defaultStream : streamNamed(config, stream);
  if (found === null) return noStream(config, stream);
  const name = stream ?? config.defaultName;
  const images = fieldAt(found, 'architectures', architecture);
  if (isJsonObject(images)) return { ok: true, stream: name, images };
  const all = Object.keys(architecturesOf(found)).join(', ');
  return {
    ok: false,
    code: 'SLW_BOOT_IMAGES_ARCH',
    message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: ${streamText(name)} has no boot images for ${architecture}; it has images for: ${all || 'none'}. Upgrade to a release that ships images for ${architecture}.`,
  };
}

function streamNamed(config: BootImageConfig, name: string): JsonObject | null {
  const named = config.streams.get(name);
  if (named !== undefined) return named;
  const only = config.streams.size === 0 ? config.defaultStream : unnamed(config.streams);
  const major = /-(\d+)$/.exec(name)?.[1];
  return only !== null && major !== undefined && readOsMajor(only) === Number(major) ? only : null;
}

const unnamed = (streams: ReadonlyMap<string, JsonObject>): JsonObject | null =>
  streams.size === 1 ? (streams.get('') ?? null) : null;

/** All artifacts of a stream come from one build; marketplace images do not. */
function readOsMajor(stream: JsonObject): number | null {
  const artifacts = Object.values(architecturesOf(stream)).flatMap((images) =>
    Object.values(objectAt(images, 'artifacts')),
  );
  return osMajor(artifacts.map((artifact) => textAt(artifact, 'release')).find((release) => release !== '') ?? '');
}

function noStream(config: BootImageConfig, stream: string | null): StreamImages {
  const all = [...config.streams.keys()].map((name) => name || '(without a name)').join(', ');
  return {
    ok: false,
    code: 'SLW_BOOT_IMAGES_STREAM',
    message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: ${streamText(stream ?? '')} does not exist; available: ${all || 'none'}. Switch the machines to an available stream, or upgrade to a release that ships this one.`,
  };
}

const streamText = (name: string): string => (name === '' ? 'the default stream' : `stream ${name}`);

const architecturesOf = (stream: JsonObject): JsonObject => objectAt(stream, 'architectures');

function read(data: Readonly<Record<string, string>>): BootImageConfig {
  const bytes = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  if (bytes > MAX_BYTES) throw new Refused(`expected at most ${MAX_BYTES} bytes, found ${bytes}`);
  const text = (key: string): string => data[key]?.trim() ?? '';
  return {
    ...readStreams(data),
    releaseVersion: text('releaseVersion'),
    stamp: { version: text(stampKeys.version), releaseVersion: text(stampKeys.release) },
  };
}

function readStreams({
  stream,
  streams: all,
}: Readonly<Record<string, string>>): Pick<BootImageConfig, 'streams' | 'defaultStream' | 'defaultName'> {
  if (stream === undefined && all === undefined) {
    throw new Refused('expected data.stream or data.streams, found neither');
  }
  const streams = all === undefined ? new Map<string, JsonObject>() : streamsAt(all);
  const defaultStream = stream === undefined ? unnamed(streams) : streamAt('data.stream', stream);
  const named = [...streams].find(([, each]) => isEqual(each, defaultStream));
  return { streams, defaultStream, defaultName: named?.[0] ?? '' };
}

function streamsAt(text: string): Map<string, JsonObject> {
  const entries = Object.entries(parseObject('data.streams', text));
  if (entries.length > MAX_STREAMS) {
    throw new Refused(`data.streams: expected at most ${MAX_STREAMS} streams, found ${entries.length}`);
  }
  return new Map(entries.map(([name, stream]) => [name, checked(`data.streams["${name.slice(0, 63)}"]`, stream)]));
}

const streamAt = (path: string, text: string): JsonObject => checked(path, parseObject(path, text));

function checked(path: string, stream: Json | undefined): JsonObject {
  const architectures = fieldAt(stream, 'architectures');
  if (!isJsonObject(stream) || !isJsonObject(architectures)) {
    throw new Refused(`${path}.architectures: expected an object keyed by architecture, found ${shown(architectures)}`);
  }
  return stream;
}

function parseObject(path: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Refused(`${path}: expected stream metadata in JSON, found ${String(error).slice(0, 200)}`);
  }
  if (!isJsonObject(value)) throw new Refused(`${path}: expected an object, found ${text.slice(0, 80)}`);
  if (isDeeper(value, MAX_DEPTH))
    throw new Refused(`${path}: expected at most ${MAX_DEPTH} levels of nesting, found more`);
  return value;
}

const isDeeper = (value: Json, most: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (most === 0 || Object.values(value).some((field: Json) => isDeeper(field, most - 1)));

// The boot images of a resource: those of the OS stream of its machines, for their architecture.

/** The stream: from the resource's label, else from the pool that its machines join, else the ConfigMap's default. */
export function streamImages(
  { labels }: { readonly labels: Readonly<Record<string, string>> },
  { workerStream }: { readonly workerStream: string | null },
  config: BootImageConfig,
  architecture: Architecture,
): StreamImages {
  const stream = labels[osStreamLabel] ?? workerStream;
  return findImages(config, stream === null ? null : nameIn(config, stream), architecture);
}

/** The payload's name for the stream, which may differ from the name that users write. */
const nameIn = ({ streams }: BootImageConfig, stream: string): string =>
  streams.has(stream) ? stream : (streams.keys().find((name) => isSameStream(name, stream)) ?? stream);

// Ids of images that a payload shipped. An image id does not reveal who built the image, and we cannot query the cloud.
// An id that was ever in the ConfigMap may be replaced; any other id is user-managed.

/** Ids to remember: those of about twenty payloads. All annotations of an object share 256 KiB. */
const MAX_KEPT = 3000;
const MAX_ID = 64;
/** Clouds that identify images by id. Windows licence images (aws-winli) are never managed. */
const clouds = platformDefs.flatMap(({ imageIds }) => imageIds ?? []);

/** All ids that may be replaced: the current ones of the ConfigMap, and the remembered ones. */
export const knownImages = (config: BootImageConfig, kept: string | undefined): ReadonlySet<string> =>
  new Set([...readKept(kept), ...imageIds(config)]);

/**
 * The ids to remember before another payload replaces the ConfigMap, as an annotation value, newest last. Returns the
 * same string if nothing is new.
 */
export function nextKept(config: BootImageConfig, kept: string | undefined): string {
  const before = readKept(kept);
  const known = new Set(before);
  const added = [...new Set(imageIds(config))].filter((id) => !known.has(id));
  return added.length === 0 ? (kept ?? '') : [...before, ...added].slice(-MAX_KEPT).join(',');
}

const readKept = (kept: string | undefined): string[] =>
  (kept ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter(isId)
    .slice(-MAX_KEPT);

function imageIds(config: BootImageConfig): string[] {
  const streams = [...config.streams.values(), ...(config.defaultStream === null ? [] : [config.defaultStream])];
  return streams.flatMap((stream) => Object.values(objectAt(stream, 'architectures')).flatMap(listImageIds));
}

const listImageIds = (images: Json): string[] =>
  clouds.flatMap((cloud) =>
    Object.values(objectAt(images, 'images', cloud, 'regions'))
      .map((region) => textAt(region, 'image'))
      .filter(isId),
  );

const isId = (id: string): boolean => id !== '' && id.length <= MAX_ID && /^[\w-]+$/.test(id);

// ConfigMap coreos-bootimages and what is known about it: its content, whether it may be used yet, and every image it
// ever had.

/** On the ConfigMap: ids of all images it ever had, so that they stay known after an upgrade. */
export const KNOWN_IMAGES_ANNOTATION = 'slipway.dev/boot-images-known';

/** On the ConfigMap, and on a copy: what cannot be computed again from a ConfigMap that was recreated. */
const lastingAnnotations = [
  bootImagesGenerationAnnotation,
  bootImagesDigestAnnotation,
  KNOWN_IMAGES_ANNOTATION,
] as const;

type Annotations = Readonly<Record<string, string>>;

/** Those of these annotations that the copy has or must have. */
export const readLastingAnnotations = (annotations: Annotations | undefined): Annotations =>
  Object.fromEntries(
    lastingAnnotations.flatMap((key) => {
      const value = annotations?.[key];
      return value === undefined ? [] : [[key, value] as const];
    }),
  );

/** The annotations of a ConfigMap; one without a counter was recreated or replaced, and continues from the copy. */
export const continueAnnotations = (annotations: Annotations, copy: Annotations | undefined): Annotations =>
  annotations[bootImagesGenerationAnnotation] === undefined
    ? { ...readLastingAnnotations(copy), ...annotations }
    : annotations;

/** ConfigMap coreos-bootimages, parsed by parseBootImageConfig. */
export type GoldenReading =
  | { readonly type: 'problem'; readonly code: BootImageCode; readonly message: string }
  | { readonly type: 'valid'; readonly golden: GoldenFacts };

export interface GoldenFacts {
  readonly config: BootImageConfig;
  /** Our count of its changes. */
  readonly generation: number;
  readonly stamp: StampState;
}

export interface Golden {
  readonly reading: GoldenReading;
  readonly knownImages: ReadonlySet<string>;
  /** Null if the ConfigMap is invalid. */
  readonly stamp: Stamp | null;
}

/** `version`: the version of Slipway. */
export function readGolden(configMap: ConfigMap | undefined, version: string, now: number): Golden {
  const parsed = parseBootImageConfig(configMap ?? null);
  if (!parsed.ok) {
    const { code, message } = parsed;
    return { reading: { type: 'problem', code, message }, knownImages: new Set(), stamp: null };
  }
  const { config } = parsed;
  const { data = {}, metadata } = configMap ?? {};
  const annotations = metadata?.annotations ?? {};
  const stamp = readStamp({ data, annotations, version, now });
  return {
    reading: { type: 'valid', golden: { config, generation: stamp.generation, stamp: stamp.state } },
    knownImages: knownImages(config, annotations[KNOWN_IMAGES_ANNOTATION]),
    stamp,
  };
}

/** Caches the result for a second: the ConfigMap has hundreds of kB, and a thousand resources need it. */
export function createGoldenReader(version: string): (configMap: ConfigMap | undefined, now: number) => Golden {
  let last: { readonly configMap: ConfigMap | undefined; readonly second: number; readonly golden: Golden } | undefined;
  return (configMap, now) => {
    const second = Math.floor(now / 1000);
    if (last !== undefined && last.configMap === configMap && (last.second === second || isSettled(last.golden)))
      return last.golden;
    const golden = readGolden(configMap, version, now);
    last = { configMap, second, golden };
    return golden;
  };
}

/** The result does not depend on the time. */
const isSettled = ({ stamp }: Golden): boolean => stamp?.state.type !== 'waiting';
