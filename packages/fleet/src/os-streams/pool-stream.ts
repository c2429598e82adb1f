// Which OS the machines of a pool shall have: the stream that its owner asks for, else the one that it is on.
import { isSameStream, streamStep } from '@slipway/api';
import { osStreamAnnotation, osStreamImagesAnnotation } from '@slipway/api/names';
import { annotationCodec, object, refine, string } from '@slipway/base/codec';
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

/** A new default, a new name or a stream that is gone never changes the OS of a pool: only its owner does, or worker's. */
export function streamOfPool(facts: PoolStreamFacts, streams: Streams): PoolStream {
  if (facts.asked !== null) return asRequested(facts, facts.asked, streams);
  const own = readCurrentStream(facts);
  if (facts.worker !== undefined) return asWorker(facts.worker, own, facts, streams);
  return own === null ? byDefault(facts, streams) : stay(own, ownReason(facts), streams);
}

/** The stream that a pool is on after a decision; null: none yet. */
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

/** What the pool is on: as it is written down, else as its machines show. Null: it is new. */
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

/** A custom pool goes where worker goes, but never back and never to another family. */
function asWorker(
  worker: TrackedStream | null,
  own: TrackedStream | null,
  facts: PoolStreamFacts,
  streams: Streams,
): PoolStream {
  if (worker === null) return { type: 'waits' };
  if (own === null) return stay(worker, 'follows worker', streams);
  if (keepsItsOwn(own, worker, streams)) return stay(own, ownReason(facts), streams);
  // On one stream that is gone, each keeps the images that it has.
  const isSame = own.name !== null && worker.name !== null && isSameStream(own.name, worker.name);
  return stay(isSame && own.images !== null ? own : worker, 'follows worker', streams);
}

/** It has an OS: only a stream that there is, and that is not behind, is worth leaving it for. */
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
    `MachineConfigPool ${pool}: it is new and names no OS image stream, and the default of OSImageStream cluster, ` +
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

function whyNotTo(to: string, from: string, pool: string): CodedProblem | null {
  const step = streamStep(from, to);
  const where = `MachineConfigPool ${pool}, spec.osImageStream.name: it asks for the stream ${to}`;
  if (step === 'backward') {
    const text = `${where}, but the pool is on ${from}, which is newer, and the OS of a machine cannot go back to an older major version. The OS stays what it is. Set the name to ${from}, or remove the field; for machines with ${to}, make new ones in another pool`;
    return buildProblem('SLW_STREAM_BACKWARD', text);
  }
  if (step === 'other family') {
    const text = `${where}, but the pool is on ${from}, which is another operating system, and a machine cannot become one. The OS stays what it is. Set the name to ${from}, or remove the field; for machines with ${to}, make new ones in another pool`;
    return buildProblem('SLW_STREAM_FAMILY', text);
  }
  return null;
}

function notThere(pool: string, asked: string, { available }: Streams): CodedProblem {
  const text = `MachineConfigPool ${pool}, spec.osImageStream.name: there is no stream ${asked}: expected one of ${listStreams(available)}, as OSImageStream cluster lists them. The OS stays what it is. Set one of these, or remove the field to stay on the stream that the pool is on`;
  return buildProblem('SLW_STREAM_UNKNOWN', text);
}

const buildProblem = (code: keyof typeof streamErrors, message: string): CodedProblem => ({ code, message });

// The stream that a pool is on, in the annotations of the pool. Anybody may have written there: what is not whole is not used.

type Annotations = Readonly<Record<string, string>>;

/** In place of the name of a stream that nobody can tell. Without the annotation a pool is not tracked at all. */
const UNKNOWN_STREAM = '';
/** As the API bounds an image. */
const MAX_IMAGE = 447;
const MAX_IMAGES = 4096;

/** Null: not tracked, or damaged; what the machines run tells then. */
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

/** As a decision leaves them; null: to be deleted. Empty: they stay as they are. */
export function trackedAnnotations(decision: PoolStream): TrackedAnnotations {
  const tracked = trackedBy(decision);
  if (tracked === null) return {};
  return {
    [osStreamAnnotation]: tracked.name ?? UNKNOWN_STREAM,
    [osStreamImagesAnnotation]: tracked.images === null ? null : images.encode(tracked.images),
  };
}

const image = refine(string({ max: MAX_IMAGE }), (text) => !/\s/.test(text), 'no space');

/** An OS before streams may have come without extensions: '' then. */
const images = annotationCodec<StreamImages, null, null>({
  decoder: object({ osImage: refine(image, (text) => text !== '', 'an image'), osExtensionsImage: image }),
  maxChars: MAX_IMAGES,
  toJson: ({ osImage, osExtensionsImage }) => ({ osImage, osExtensionsImage }),
  missing: null,
  unreadable: null,
});
