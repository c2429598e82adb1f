// What boot images a payload ships: the ConfigMap that comes with it, parsed once. What is below an architecture is read by
// the rules of the platforms, each its own part.
import { BOOT_IMAGES_CONFIG_MAP, type ConfigMap, isSameStream, osStreamLabel } from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import { osMajor } from './boot-version.ts';
import { fieldAt, isJsonObject, objectAt, shown, textAt, type Json, type JsonObject } from './json.ts';
import { platformDefs } from './platforms/index.ts';
import { readStamp, type Stamp, stampKeys, type StampState } from './release-stamp.ts';
import type { Architecture, BootImageCode } from './verdict.ts';

/** What the ConfigMap of a payload of today has is 300 kB; the API server takes one MiB. */
export const MAX_BYTES = 4 * 1024 * 1024;
const MAX_STREAMS = 50;
const MAX_DEPTH = 32;

/** The part of a ConfigMap that is read. */
interface ConfigMapData {
  readonly data?: Readonly<Record<string, string>> | undefined;
}

export interface BootImageConfig {
  /** Stream metadata by name of the stream; '' is a stream without a name. */
  readonly streams: ReadonlyMap<string, JsonObject>;
  /** Stream metadata for machines that follow no stream; null: there is none. */
  readonly defaultStream: JsonObject | null;
  /** The name under which the default stream is also among the streams; '': it is not. Never what it calls itself: that is stale. */
  readonly defaultName: string;
  /** Of the payload, such as 4.22.0; '': it does not say. */
  readonly releaseVersion: string;
  /** Who has said that the ConfigMap may be followed; '' where nobody has. */
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

const REMEDIATION = 'It comes with the release payload: put it back as the payload has it.';

class Refused extends Error {}

/** Null: there is no such ConfigMap. */
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
 * What an OS image stream has for an architecture. Null in place of a stream: machines that follow none. A stream asked for
 * by name is never answered with another one: a ConfigMap that has only one, without a name, is taken for the stream whose
 * name ends in the major version of its OS.
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
    message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: ${streamText(name)} has no boot images for ${architecture}, only for: ${all || 'none'}. Machines of this architecture need a release that ships them.`,
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

/** Every artifact of a stream is of the same build; marketplace images are not. */
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
    message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: ${streamText(stream ?? '')} is not there, only: ${all || 'none'}. Let the machines follow one of these, or wait for a release that has it.`,
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
    throw new Refused(`${path}.architectures: expected an object by architecture, found ${shown(architectures)}`);
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
  if (isDeeper(value, MAX_DEPTH)) throw new Refused(`${path}: expected at most ${MAX_DEPTH} levels, found more`);
  return value;
}

const isDeeper = (value: Json, most: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (most === 0 || Object.values(value).some((field: Json) => isDeeper(field, most - 1)));

// The boot images of a resource: those of the OS stream that its machines are on, for their architecture.

/** Its own label says which stream, else that of the pool that its machines join; else the ConfigMap's default counts. */
export function streamImages(
  { labels }: { readonly labels: Readonly<Record<string, string>> },
  { workerStream }: { readonly workerStream: string | null },
  config: BootImageConfig,
  architecture: Architecture,
): StreamImages {
  const stream = labels[osStreamLabel] ?? workerStream;
  return findImages(config, stream === null ? null : nameIn(config, stream), architecture);
}

/** As the payload calls it, which may be another name than people use. */
const nameIn = ({ streams }: BootImageConfig, stream: string): string =>
  streams.has(stream) ? stream : (streams.keys().find((name) => isSameStream(name, stream)) ?? stream);

// Ids of images that came with a payload. An id tells nothing of who made an image, and we cannot ask the cloud: what was
// once in the ConfigMap is ours to replace, what never was is somebody's own.

/** What is kept of payloads that have gone: some twenty of them; an object holds 256 KiB of annotations in all. */
const MAX_KEPT = 3000;
const MAX_ID = 64;
/** Clouds that name images by ids. Windows licence images (aws-winli) are elsewhere in the metadata and never ours. */
const clouds = platformDefs.flatMap(({ imageIds }) => imageIds ?? []);

/** All that may be replaced: those of the ConfigMap now, and those that were kept. */
export const knownImages = (config: BootImageConfig, kept: string | undefined): ReadonlySet<string> =>
  new Set([...readKept(kept), ...imageIds(config)]);

/**
 * What to keep of a ConfigMap before another comes in its place: a list of ids for an annotation, those of the newest last.
 * The same string when there is nothing new.
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

// ConfigMap coreos-bootimages with what is known about it: what it says, whether it may be followed yet, and which images were
// ever in it.

/** On the ConfigMap: ids of images that were in it, so that they are still known when another release has come. */
export const KNOWN_IMAGES_ANNOTATION = 'slipway.dev/boot-images-known';

/** ConfigMap coreos-bootimages, as parseBootImageConfig reads it. */
export type GoldenReading =
  | { readonly type: 'problem'; readonly code: BootImageCode; readonly message: string }
  | { readonly type: 'valid'; readonly golden: GoldenFacts };

export interface GoldenFacts {
  readonly config: BootImageConfig;
  /** Our counter of its changes. */
  readonly generation: number;
  readonly stamp: StampState;
}

export interface Golden {
  readonly reading: GoldenReading;
  readonly knownImages: ReadonlySet<string>;
  /** Null where it cannot be read. */
  readonly stamp: Stamp | null;
}

/** `version`: ours. */
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

/** The same, with no second thought about the same object within a second: it has hundreds of kB, and a thousand ask. */
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

/** Time changes nothing about it. */
const isSettled = ({ stamp }: Golden): boolean => stamp?.state.type !== 'waiting';
