// The desired OS of a pool's machines: the stream that its spec requests, else its current one.
import { isSameStream, streamStep } from '@slipway/api';
import { osStreamAnnotation, osStreamImagesAnnotation } from '@slipway/api/names';
import { annotationCodec, object, refine, string } from '@slipway/base/codec';
import { quote } from '@slipway/base/text';
import type { streamErrors } from '../errors.ts';
import type { CodedProblem } from '../problems.ts';
import {
  findStream,
  isStreamName,
  listStreams,
  type PoolStream,
  type PoolStreamFacts,
  type Stream,
  type StreamImages,
  type Streams,
  type TrackedStream,
} from './available.ts';

type Because = Extract<PoolStream, { type: 'follows' }>['because'];

/** A new default, a new name or a removed stream never changes the OS of a pool: only its spec or worker's does. */
export function streamOfPool(facts: PoolStreamFacts, streams: Streams): PoolStream {
  if (facts.asked !== null) return asRequested(facts, facts.asked, streams);
  const own = readCurrentStream(facts);
  if (facts.worker !== undefined) return asWorker(facts.worker, own, facts, streams);
  return own === null ? byDefault(facts, streams) : stay(own, ownReason(facts), streams);
}

/** The stream of a pool after a decision; null: none yet. */
export function trackedBy(decision: PoolStream): TrackedStream | null {
  switch (decision.type) {
    case 'follows': {
      const { name, osImage, osExtensionsImage } = decision.stream;
      return { name, images: { osImage, osExtensionsImage } };
    }
    case 'waits':
      return null;
    default:
      return decision.at;
  }
}

/** The pool's current stream: as recorded, else as its machines report. Null: the pool is new. */
function readCurrentStream({ tracked, runs }: PoolStreamFacts): TrackedStream | null {
  const shown: TrackedStream | null = runs === null ? null : { name: runs.stream, images: runs.images };
  if (tracked === null) return shown;
  return tracked.images === null && shown !== null ? { name: tracked.name, images: shown.images } : tracked;
}

const ownReason = ({ tracked }: PoolStreamFacts): Because => (tracked === null ? 'runs it' : 'tracked');

function asRequested(facts: PoolStreamFacts, asked: string, streams: Streams): PoolStream {
  const at = readCurrentStream(facts);
  const stream = findStream(streams.available, asked);
  if (stream !== undefined) {
    const from = at?.name ?? null;
    const problem = from === null ? null : whyNotTo(stream.name, from, facts.pool);
    return problem === null ? follow(stream, 'asked') : { type: 'refused', at, problem };
  }
  if (at !== null && at.name !== null && isSameStream(at.name, asked))
    return { type: 'frozen', at, because: 'removed' };
  return { type: 'refused', at, problem: notThere(facts.pool, asked, streams) };
}

/** A custom pool follows worker, but never backward and never to another family. */
function asWorker(
  worker: TrackedStream | null,
  own: TrackedStream | null,
  facts: PoolStreamFacts,
  streams: Streams,
): PoolStream {
  if (worker === null) return { type: 'waits' };
  if (own === null) return stay(worker, 'follows worker', streams);
  if (keepsItsOwn(own, worker, streams)) return stay(own, ownReason(facts), streams);
  // If both are on a removed stream, each keeps its current images.
  const isSame = own.name !== null && worker.name !== null && isSameStream(own.name, worker.name);
  return stay(isSame && own.images !== null ? own : worker, 'follows worker', streams);
}

/** The pool has an OS: it moves only to a stream that is available and not older. */
function keepsItsOwn(own: TrackedStream, worker: TrackedStream, { available }: Streams): boolean {
  if (worker.name === null) return true;
  if (own.name === null) return true;
  const step = streamStep(own.name, worker.name);
  if (step === 'same') return false;
  return step === 'backward' || step === 'other family' || findStream(available, worker.name) === undefined;
}

function byDefault({ pool }: PoolStreamFacts, { available, defaultStream }: Streams): PoolStream {
  const stream = findStream(available, defaultStream);
  if (stream !== undefined) return follow(stream, 'default');
  const message =
    `MachineConfigPool ${pool}: it is new and specifies no OS image stream, and the default of OSImageStream cluster, ` +
    `${defaultStream}, is not available: expected one of ${listStreams(available)}. Set spec.defaultStream of the OSImageStream, or spec.osImageStream.name of the pool`;
  return { type: 'refused', at: null, problem: buildProblem('SLW_STREAM_NO_DEFAULT', message) };
}

function stay(on: TrackedStream, because: Because, { available }: Streams): PoolStream {
  if (on.name === null) return { type: 'frozen', at: on, because: 'unknown' };
  const stream = findStream(available, on.name);
  return stream === undefined ? { type: 'frozen', at: on, because: 'removed' } : follow(stream, because);
}

const follow = ({ name, osImage, osExtensionsImage }: Stream, because: Because): PoolStream => ({
  type: 'follows',
  stream: { name, osImage, osExtensionsImage },
  because,
});

/** Why a pool has no OS image yet. */
export type MissingImage = 'no streams' | 'worker has none' | { readonly uninspected: string };

/** Nothing is rendered for a pool without an OS image, so its owner must learn what is missing. */
export function missingImage(pool: string, why: MissingImage): CodedProblem {
  const text = `MachineConfigPool ${pool}: expected an OS image, found none: ${reasonFor(why)}. Until then nothing is rendered for the pool: its machines keep their config, and new machines get none. Slipway continues as soon as the image is known`;
  return buildProblem('SLW_STREAM_NO_IMAGE', text);
}

function reasonFor(why: MissingImage): string {
  if (why === 'no streams') {
    return 'OSImageStream cluster lists no streams, because no source of OS images could be read completely so far. The condition Degraded of ClusterOperator machine-config names what is wrong. A source needs both the OS image and the extensions image of a stream';
  }
  if (why === 'worker has none') {
    return 'it follows MachineConfigPool worker, which has none. See RenderDegraded of MachineConfigPool worker, or set spec.osImageStream.name';
  }
  return `the stream of ${quote(why.uninspected, MAX_IMAGE)}, which its machines run, is not known, and the registry of that image cannot be read. Check the registry and the pull secret, or set spec.osImageStream.name`;
}

function whyNotTo(to: string, from: string, pool: string): CodedProblem | null {
  const step = streamStep(from, to);
  const where = `MachineConfigPool ${pool}, spec.osImageStream.name: it requests stream ${to}`;
  if (step === 'backward') {
    const text = `${where}, but the pool is on ${from}, which is newer, and a machine cannot be downgraded to an older major version of the OS. The OS does not change. Set the name to ${from}, or remove the field; for machines with ${to}, create new ones in another pool`;
    return buildProblem('SLW_STREAM_BACKWARD', text);
  }
  if (step === 'other family') {
    const text = `${where}, but the pool is on ${from}, which is a different operating system, and a machine cannot switch between them. The OS does not change. Set the name to ${from}, or remove the field; for machines with ${to}, create new ones in another pool`;
    return buildProblem('SLW_STREAM_FAMILY', text);
  }
  return null;
}

function notThere(pool: string, asked: string, { available }: Streams): CodedProblem {
  const text = `MachineConfigPool ${pool}, spec.osImageStream.name: expected one of ${listStreams(available)} (from OSImageStream cluster), found ${asked}. The OS does not change. Set one of the listed streams, or remove the field to stay on the current stream`;
  return buildProblem('SLW_STREAM_UNKNOWN', text);
}

const buildProblem = (code: keyof typeof streamErrors, message: string): CodedProblem => ({ code, message });

// The current stream of a pool, in its annotations. Any client may have written there: incomplete data is ignored.

type Annotations = Readonly<Record<string, string>>;

/** In place of the name of an unknown stream. Without the annotation a pool is not tracked. */
const UNKNOWN_STREAM = '';
/** The API's limit for an image. */
const MAX_IMAGE = 447;
const MAX_IMAGES = 4096;

/** Null: not tracked, or invalid; then what the machines run counts. */
export function readTrackedStream(annotations: Annotations | undefined): TrackedStream | null {
  const name = annotations?.[osStreamAnnotation];
  if (name === undefined || (name !== UNKNOWN_STREAM && !isStreamName(name))) return null;
  return {
    name: name === UNKNOWN_STREAM ? null : name,
    images: images.decode(annotations?.[osStreamImagesAnnotation]),
  };
}

export type TrackedAnnotations = Readonly<
  Partial<Record<typeof osStreamAnnotation | typeof osStreamImagesAnnotation, string | null>>
>;

/** The annotations after a decision; null: delete it. Empty: unchanged. */
export function trackedAnnotations(decision: PoolStream): TrackedAnnotations {
  const tracked = trackedBy(decision);
  if (tracked === null) return {};
  return {
    [osStreamAnnotation]: tracked.name ?? UNKNOWN_STREAM,
    [osStreamImagesAnnotation]: tracked.images === null ? null : images.encode(tracked.images),
  };
}

const image = refine(string({ max: MAX_IMAGE }), (text) => !/\s/.test(text), 'no space');

/** An OS that predates streams may have no extensions: '' then. */
const images = annotationCodec<StreamImages, null, null>({
  decoder: object({ osImage: refine(image, (text) => text !== '', 'an image'), osExtensionsImage: image }),
  maxChars: MAX_IMAGES,
  toJson: ({ osImage, osExtensionsImage }) => ({ osImage, osExtensionsImage }),
  missing: null,
  unreadable: null,
});
