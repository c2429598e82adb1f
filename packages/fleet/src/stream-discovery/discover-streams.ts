// What streams are discovered from, and what is found: plain data.
import { quote } from '@slipway/base/text';
import { isSameStream } from '@slipway/api';
import { isStreamName, type Stream, type StreamLifecycle } from '../os-streams/available.ts';
import { detectDistribution, expectedDefault, getFamily } from '../os-streams/default-stream.ts';
import { lifecycleOfTag } from '../os-streams/lifecycle.ts';
import { STREAM_CLASS_LABEL, streamOfLabels } from '../os-streams/runs.ts';
import { detectRole, streamOfImage } from './image-references.ts';

export type SourceName = 'command line' | 'ConfigMap machine-config-osimageurl' | 'release image';

/** An image that a source names, and what its registry says of it. */
export interface SourceImage {
  /** By digest. */
  readonly reference: string;
  /** In image-references; null: the source has no tags. */
  readonly tag: string | null;
  /** Of the tag. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Of the image's config. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the source says the image is; null: labels or tag must say it. */
  readonly role: 'os' | 'extensions' | null;
}

export type SourceReading =
  | {
      readonly name: SourceName;
      readonly ok: true;
      readonly images: readonly SourceImage[];
      /** The version of the platform that it is of; null: it does not say. */
      readonly version: string | null;
    }
  | { readonly name: SourceName; readonly ok: false; readonly problem: string };

export interface DiscoveredStream {
  readonly stream: Stream;
  readonly from: SourceName;
  readonly lifecycle: StreamLifecycle | null;
}

/** Worth telling; none of them stops anything. */
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
  /** The version of the platform, by the source with the highest precedence that says it. */
  readonly version: string | null;
}

// Which streams there are, out of what the sources say: images in pairs, by the name on their labels.

/** Each one before it gives way to the next. */
const precedence: readonly SourceName[] = ['command line', 'ConfigMap machine-config-osimageurl', 'release image'];
/** What an OSImageStream can hold. */
const MAX_STREAMS = 100;
const MAX_REFERENCE_LENGTH = 447;
const BY_DIGEST =
  /^([a-zA-Z0-9-]+\.)+[a-zA-Z0-9-]+(:[0-9]{2,5})?\/([a-zA-Z0-9-_]{0,61}\/)?[a-zA-Z0-9-_.]*@sha256:[a-f0-9]{64}$/;

type Readable = Extract<SourceReading, { ok: true }>;

/** What one source says of one stream. */
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
  const ordered = readings.toSorted((a, b) => precedence.indexOf(a.name) - precedence.indexOf(b.name));
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
  return { found: sorted.slice(0, MAX_STREAMS), notes: [...notes, ...tooMany(sorted)], version };
}

const pairImages = (reading: Readable, all: readonly Readable[]): PairingResult =>
  reading.name === 'release image' ? taggedPairs(reading) : namedPair(reading, all);

/** Of a payload: every image says by label which stream it is of. */
function taggedPairs({ name: source, images }: Readable): PairingResult {
  const notes: StreamNote[] = [];
  const unlabelled: string[] = [];
  let pairs: readonly Pair[] = [];
  for (const image of images) {
    const role = detectRole(image);
    // Built from the same sources, and no OS.
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

/** Of a source that names one pair: its images belong together, whatever they say. */
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

/** What the version of the image belongs to, else the default of its platform: so it was before images had labels. */
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

/** The API would refuse it, and all other streams with it. */
function unusable(name: string, os: SourceImage, extensions: SourceImage): string | null {
  if (!isStreamName(name)) {
    return `${os.reference} says that its stream is ${shown(name)}, expected lower case letters, digits, '-' and '.'. The stream is left out`;
  }
  const bad = [os, extensions].find(
    ({ reference }) => reference.length > MAX_REFERENCE_LENGTH || !BY_DIGEST.test(reference),
  );
  if (bad === undefined) return null;
  return `stream ${name} has the image ${shown(bad.reference)}, expected host[:port]/[namespace/]name@sha256:digest with a full domain name. The stream is left out`;
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
      `stream ${next.stream.name}: ${field} is ${next.stream[field]} by the ${next.from}, and ${before.stream[field]} by the ${before.from}; the ${next.from} counts`,
    ),
  );
}

const twice = (source: SourceName, stream: string, role: string, before: SourceImage, now: SourceImage): StreamNote =>
  note(
    'SLW_STREAM_CONFLICT',
    `${source}: two tags say that they are the ${role === 'os' ? 'OS' : 'extensions'} image of stream ${stream}: ${before.tag} (${before.reference}) and ${now.tag} (${now.reference}); the last one counts`,
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
    `${source}: the OS image ${os?.reference} is of stream ${name}, and the extensions image ${extensions?.reference} of ${other}; expected a pair of one stream. Both are left out`,
  );

const nameless = (source: SourceName, os: SourceImage | null, extensions: SourceImage | null): StreamNote =>
  note(
    'SLW_STREAM_UNLABELLED',
    `${source}: ${(os ?? extensions)?.reference} has no label ${STREAM_CLASS_LABEL}, and neither a version of its own nor one of the platform tells its stream. Its pair is left out`,
  );

const contradiction = (source: SourceName, image: SourceImage): StreamNote =>
  note(
    'SLW_STREAM_UNUSABLE',
    `${source}: ${image.reference} is named as the ${image.role === 'os' ? 'OS' : 'extensions'} image, and its labels say that it is the other one. Its pair is left out`,
  );

const withoutLabel = (source: SourceName, tags: readonly string[]): StreamNote =>
  note(
    'SLW_STREAM_UNLABELLED',
    `${source}: ${tags.join(', ')} ${tags.length === 1 ? 'has' : 'have'} no label ${STREAM_CLASS_LABEL}, which says the stream, and ${tags.length === 1 ? 'is' : 'are'} left out; the images of ConfigMap machine-config-osimageurl count instead`,
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
    `${source}: stream ${stream} has only its ${os === null ? 'extensions' : 'OS'} image (${there?.reference ?? ''}${where}), expected an OS image and an extensions image. The stream is left out`,
  );
};

const tooMany = (found: readonly DiscoveredStream[]): StreamNote[] =>
  found.length <= MAX_STREAMS
    ? []
    : [
        note(
          'SLW_STREAM_UNUSABLE',
          `expected at most ${MAX_STREAMS} streams, found ${found.length}; left out: ${found
            .slice(MAX_STREAMS)
            .map(({ stream }) => stream.name)
            .join(', ')}`,
        ),
      ];
