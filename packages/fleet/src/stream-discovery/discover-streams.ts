// The input and the result of stream discovery: plain data.
import { quote } from '@slipway/base/text';
import { isImageByDigest, isSameStream } from '@slipway/api';
import { isStreamName, type Stream, type StreamLifecycle } from '../os-streams/available.ts';
import { detectDistribution, expectedDefault, getFamily } from '../os-streams/default-stream.ts';
import { lifecycleOfTag } from '../os-streams/lifecycle.ts';
import { STREAM_CLASS_LABEL, streamOfLabels } from '../os-streams/runs.ts';
import { detectRole, streamOfImage } from './image-references.ts';

export type SourceName = 'command line' | 'ConfigMap machine-config-osimageurl' | 'release image';

/** An image of a source, with the data from its registry. */
export interface SourceImage {
  /** By digest. */
  readonly reference: string;
  /** In image-references; null: the source has no tags. */
  readonly tag: string | null;
  /** Of the tag. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Of the image's config. */
  readonly labels: Readonly<Record<string, string>>;
  /** The role that the source specifies; null: labels or tag determine it. */
  readonly role: 'os' | 'extensions' | null;
}

export type SourceReading =
  | {
      readonly name: SourceName;
      readonly ok: true;
      readonly images: readonly SourceImage[];
      /** The version of the platform; null if not specified. */
      readonly version: string | null;
    }
  | { readonly name: SourceName; readonly ok: false; readonly problem: string };

export interface DiscoveredStream {
  readonly stream: Stream;
  readonly from: SourceName;
  readonly lifecycle: StreamLifecycle | null;
}

/** Reported, but not blocking. */
export interface StreamNote {
  readonly code:
    | 'SLW_STREAM_SOURCE_FAILED'
    | 'SLW_STREAM_CONFLICT'
    | 'SLW_STREAM_PARTIAL'
    | 'SLW_STREAM_UNLABELLED'
    | 'SLW_STREAM_UNUSABLE'
    | 'SLW_STREAM_LIFECYCLE';
  readonly message: string;
}

export interface Discovery {
  /** By name, each with both images. */
  readonly found: readonly DiscoveredStream[];
  readonly notes: readonly StreamNote[];
  /** The sources that cannot be read, from the lowest to the highest precedence. */
  readonly failed: readonly SourceName[];
  /** The version of the platform, from the source with the highest precedence that specifies it. */
  readonly version: string | null;
}

// Combines the sources into streams: pairs of images, matched by the stream name on their labels.

/** Later ones override earlier ones. */
export const sourcePrecedence: readonly SourceName[] = [
  'command line',
  'ConfigMap machine-config-osimageurl',
  'release image',
];
/** The limit of an OSImageStream. */
export const MAX_STREAMS = 100;

type Readable = Extract<SourceReading, { ok: true }>;

/** What one source specifies for one stream. */
interface Pair {
  readonly name: string;
  readonly os: SourceImage | null;
  readonly extensions: SourceImage | null;
}

interface PairingResult {
  readonly pairs: readonly Pair[];
  readonly notes: readonly StreamNote[];
}

export function discoverStreams(readings: readonly SourceReading[]): Discovery {
  const ordered = readings.toSorted((a, b) => sourcePrecedence.indexOf(a.name) - sourcePrecedence.indexOf(b.name));
  const readable = ordered.filter((reading): reading is Readable => reading.ok);
  const version = readable.findLast((reading) => reading.version !== null)?.version ?? null;
  const notes: StreamNote[] = ordered.flatMap((reading) => (reading.ok ? [] : [failed(reading)]));
  let found: readonly DiscoveredStream[] = [];
  for (const reading of readable) {
    const part = pairImages(reading, readable);
    notes.push(...part.notes);
    for (const pair of part.pairs) {
      const whole = completePair(pair, reading.name);
      notes.push(...whole.notes);
      if (whole.found === null) continue;
      notes.push(...conflicts(found, whole.found));
      found = [...found.filter(({ stream }) => !isSameStream(stream.name, pair.name)), whole.found];
    }
  }
  const sorted = found.toSorted((a, b) => (a.stream.name < b.stream.name ? -1 : 1));
  return {
    found: sorted.slice(0, MAX_STREAMS),
    notes: [...notes, ...tooMany(sorted)],
    failed: ordered.flatMap(({ ok, name }) => (ok ? [] : [name])),
    version,
  };
}

const pairImages = (reading: Readable, all: readonly Readable[]): PairingResult =>
  reading.name === 'release image' ? taggedPairs(reading) : namedPair(reading, all);

/** From a payload: every image has a label with its stream. */
function taggedPairs({ name: source, images }: Readable): PairingResult {
  const notes: StreamNote[] = [];
  const unlabelled: string[] = [];
  let pairs: readonly Pair[] = [];
  for (const image of images) {
    const role = detectRole(image);
    // Built from the same sources, but not an OS image.
    if (role === null || role === 'contradiction') continue;
    const name = streamOfImage(image.labels);
    if (name === null) {
      unlabelled.push(image.tag ?? image.reference);
      continue;
    }
    const before = pairs.find((pair) => isSameStream(pair.name, name));
    const rival = before?.[role] ?? null;
    if (rival !== null) notes.push(twice(source, name, role, rival, image));
    const pair = { os: null, extensions: null, ...before, name, [role]: image };
    pairs = [...pairs.filter((each) => each !== before), pair];
  }
  if (unlabelled.length > 0) notes.push(withoutLabel(source, unlabelled));
  return { pairs, notes };
}

/** From a source that specifies one pair: its images belong together, whatever their labels. */
function namedPair(reading: Readable, all: readonly Readable[]): PairingResult {
  const { name: source, images } = reading;
  const wrong = images.filter((image) => detectRole(image) === 'contradiction');
  if (wrong.length > 0) return { pairs: [], notes: wrong.map((image) => contradiction(source, image)) };
  const of = (role: SourceImage['role']): SourceImage | null => images.find((image) => image.role === role) ?? null;
  const [os, extensions] = [of('os'), of('extensions')];
  const [name = unlabelledStream(os, reading, all), other = name] = [os, extensions].flatMap((image) =>
    image === null ? [] : (streamOfImage(image.labels) ?? []),
  );
  if (name === null || other === null) return { pairs: [], notes: [nameless(source, os, extensions)] };
  if (!isSameStream(name, other)) return { pairs: [], notes: [mixed(source, name, other, os, extensions)] };
  return { pairs: [{ name, os, extensions }], notes: [] };
}

/** The stream of the image's version, else the platform default, as before images had labels. */
function unlabelledStream(os: SourceImage | null, reading: Readable, all: readonly Readable[]): string | null {
  const labelled = all.flatMap(({ images }) => images.flatMap(({ labels }) => streamOfImage(labels) ?? []));
  const version = reading.version ?? all.findLast((each) => each.version !== null)?.version ?? null;
  const distribution = detectDistribution(
    version,
    labelled.map((name) => ({ name })),
  );
  const family = distribution === null ? null : getFamily(distribution);
  return streamOfLabels(os?.labels ?? {}, family) ?? expectedDefault(distribution, version);
}

function completePair(
  { name, os, extensions }: Pair,
  from: SourceName,
): { found: DiscoveredStream | null; notes: StreamNote[] } {
  if (os === null || extensions === null) return { found: null, notes: [partial(name, from, os, extensions)] };
  const problem = unusable(name, os, extensions);
  if (problem !== null) return { found: null, notes: [note('SLW_STREAM_UNUSABLE', `${from}: ${problem}`)] };
  const stream = { name, osImage: os.reference, osExtensionsImage: extensions.reference };
  const { lifecycle, problems } = lifecycleOfTag(os.tag ?? '', os.annotations);
  const notes = problems.map(({ message }) => note('SLW_STREAM_LIFECYCLE', message));
  return { found: { stream, from, lifecycle }, notes };
}

/** The API would reject it, and all other streams with it. */
function unusable(name: string, os: SourceImage, extensions: SourceImage): string | null {
  if (!isStreamName(name)) {
    return `${os.reference}: stream label: expected lower case letters, digits, '-' and '.', found ${shown(name)}. The stream is ignored`;
  }
  const bad = [os, extensions].find(({ reference }) => !isImageByDigest(reference));
  if (bad === undefined) return null;
  return `stream ${name}: image: expected host[:port][/namespace…]/name@sha256:digest with a full domain name, found ${shown(bad.reference)}. The stream is ignored`;
}

const note = (code: StreamNote['code'], message: string): StreamNote => ({ code, message });
const shown = (text: string): string => quote(text, 120);

const failed = ({ name, problem }: Extract<SourceReading, { ok: false }>): StreamNote =>
  note('SLW_STREAM_SOURCE_FAILED', `${name}: ${problem}`);

function conflicts(found: readonly DiscoveredStream[], next: DiscoveredStream): StreamNote[] {
  const before = found.find(({ stream }) => isSameStream(stream.name, next.stream.name));
  if (before === undefined) return [];
  const fields = (['osImage', 'osExtensionsImage'] as const).filter(
    (field) => before.stream[field] !== next.stream[field],
  );
  return fields.map((field) =>
    note(
      'SLW_STREAM_CONFLICT',
      `stream ${next.stream.name}: ${field} is ${next.stream[field]} according to the ${next.from}, but ${before.stream[field]} according to the ${before.from}; the ${next.from} takes precedence`,
    ),
  );
}

const twice = (source: SourceName, stream: string, role: string, before: SourceImage, now: SourceImage): StreamNote =>
  note(
    'SLW_STREAM_CONFLICT',
    `${source}: two tags claim to be the ${role === 'os' ? 'OS' : 'extensions'} image of stream ${stream}: ${before.tag} (${before.reference}) and ${now.tag} (${now.reference}); the last one is used`,
  );

const mixed = (
  source: SourceName,
  name: string,
  other: string,
  os: SourceImage | null,
  extensions: SourceImage | null,
): StreamNote =>
  note(
    'SLW_STREAM_CONFLICT',
    `${source}: the OS image ${os?.reference} belongs to stream ${name}, but the extensions image ${extensions?.reference} to ${other}; expected both in one stream. Both are ignored`,
  );

const nameless = (source: SourceName, os: SourceImage | null, extensions: SourceImage | null): StreamNote =>
  note(
    'SLW_STREAM_UNLABELLED',
    `${source}: ${(os ?? extensions)?.reference} has no label ${STREAM_CLASS_LABEL}, and neither its version nor the platform version determines its stream. The image and its counterpart are ignored`,
  );

const contradiction = (source: SourceName, image: SourceImage): StreamNote =>
  note(
    'SLW_STREAM_UNUSABLE',
    `${source}: ${image.reference} is specified as the ${image.role === 'os' ? 'OS' : 'extensions'} image, but its labels identify it as the ${image.role === 'os' ? 'extensions' : 'OS'} image. The image and its counterpart are ignored`,
  );

const withoutLabel = (source: SourceName, tags: readonly string[]): StreamNote =>
  note(
    'SLW_STREAM_UNLABELLED',
    `${source}: ${tags.join(', ')} ${tags.length === 1 ? 'has' : 'have'} no stream label ${STREAM_CLASS_LABEL} and ${tags.length === 1 ? 'is' : 'are'} ignored; the images of ConfigMap machine-config-osimageurl are used instead`,
  );

const partial = (
  stream: string,
  source: SourceName,
  os: SourceImage | null,
  extensions: SourceImage | null,
): StreamNote => {
  const there = os ?? extensions;
  const where = there?.tag === null || there === null ? '' : `, tag ${there.tag}`;
  return note(
    'SLW_STREAM_PARTIAL',
    `${source}: stream ${stream}: expected an OS image and an extensions image, found only the ${os === null ? 'extensions' : 'OS'} image (${there?.reference ?? ''}${where}). The stream is ignored`,
  );
};

const tooMany = (found: readonly DiscoveredStream[]): StreamNote[] =>
  found.length <= MAX_STREAMS
    ? []
    : [
        note(
          'SLW_STREAM_UNUSABLE',
          `expected at most ${MAX_STREAMS} streams, found ${found.length}; ignored: ${found
            .slice(MAX_STREAMS)
            .map(({ stream }) => stream.name)
            .join(', ')}`,
        ),
      ];
