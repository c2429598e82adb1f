// What becomes of pools whose stream nears its end: told early, then an upgrade waits for them, then their OS stays as it is.
import { isSameStream } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import type { CodedProblem } from '../problems.ts';
import {
  findStream,
  isStreamName,
  lifecycleOf,
  listStreams,
  type StreamLifecycle,
  type Streams,
  successorsOf,
  type TrackedStream,
} from './available.ts';

export interface PoolOnStream {
  readonly pool: string;
  readonly tracked: TrackedStream | null;
  /** The stream that every machine of the pool runs, status.osImageStream.name; null: none, or not all of them yet. */
  readonly runs: string | null;
}

export interface StreamCondition {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const AS_EXPECTED = 'AsExpected';
const MAX_POOLS = 10;

/** For the condition OSStreamDeprecated of the pool. No streams: nothing is known of any end. */
export function poolDeprecation(pool: PoolOnStream, streams: Streams | null): StreamCondition {
  if (streams === null) return { status: 'False', reason: AS_EXPECTED, message: '' };
  const ending = endingOf(pool, streams);
  if (ending !== null) return { status: 'True', reason: ending.reason, message: poolMessage(ending, streams) };
  if (pool.tracked === null || pool.tracked.name !== null) return { status: 'False', reason: AS_EXPECTED, message: '' };
  // Nothing ends here, but nothing comes either: the owner should know.
  const message = `MachineConfigPool ${pool.pool} runs an OS of no known stream, from before streams: it stays as it is and gets no updates of the OS. Set spec.osImageStream.name of the pool to the stream it shall follow: ${listStreams(streams.available)}`;
  return { status: 'False', reason: 'StreamUnknown', message };
}

/** For the condition Upgradeable of the cluster: the next release may not have the stream of a pool any more. */
export function upgradeableOf(pools: readonly PoolOnStream[], streams: Streams | null): StreamCondition {
  const holding = streams === null ? [] : pools.flatMap((pool) => endingOf(pool, streams) ?? []).filter(holdsUpgrade);
  if (streams === null || holding.length === 0) return { status: 'True', reason: AS_EXPECTED, message: '' };
  const sorted = holding.toSorted((a, b) => (a.pool < b.pool ? -1 : 1));
  const shown = sorted.slice(0, MAX_POOLS).map((ending) => `${whatIs(ending)}. ${whatToDo(ending, streams)}`);
  const more = holding.length > MAX_POOLS ? ` And ${holding.length - MAX_POOLS} more pools.` : '';
  const message = `Cannot upgrade while machines run an OS that the next release does not have. ${shown.join('. ')}.${more}`;
  return { status: 'False', reason: 'DeprecatedOSStreamInUse', message };
}

interface Ending {
  readonly pool: string;
  readonly stream: string;
  readonly state: 'deprecated' | 'blocked' | 'removed';
  readonly reason: 'StreamEndOfLife' | 'StreamRemoved';
  /** The stream that the pool is already on its way to. */
  readonly goingTo: string | null;
  readonly said: string | null;
}

/** What the pool is on counts, and what its machines still run on their way away from it. */
function endingOf({ pool, tracked, runs }: PoolOnStream, streams: Streams): Ending | null {
  const on = tracked?.name ?? null;
  const isMoving = on !== null && runs !== null && !isSameStream(on, runs);
  const left = isMoving ? endOf(runs, streams) : null;
  if (left !== null) return { pool, ...left, goingTo: on };
  const own = on === null ? null : endOf(on, streams);
  return own === null ? null : { pool, ...own, goingTo: null };
}

function endOf(stream: string, streams: Streams): Omit<Ending, 'pool' | 'goingTo'> | null {
  const lifecycle = lifecycleOf(stream, streams);
  const said = lifecycle?.message ?? null;
  if (findStream(streams.available, stream) === undefined) {
    return { stream, state: 'removed', reason: 'StreamRemoved', said };
  }
  return lifecycle === undefined ? null : { stream, state: lifecycle.state, reason: 'StreamEndOfLife', said };
}

const holdsUpgrade = ({ state }: Ending): boolean => state !== 'deprecated';

function poolMessage(ending: Ending, streams: Streams): string {
  const said = ending.said === null ? '' : ` The release says: ${ending.said}`;
  return `${whatIs(ending)}. ${whatToDo(ending, streams)}.${said}`;
}

const meanings = {
  deprecated: 'is deprecated and will be removed in a future release',
  blocked: 'is deprecated, and the cluster cannot be upgraded while it is used',
  removed: 'is not in this release any more: the OS stays at its version and gets no updates',
} as const satisfies Readonly<Record<Ending['state'], string>>;

const whatIs = ({ pool, stream, state, goingTo }: Ending): string =>
  `MachineConfigPool ${pool} ${goingTo === null ? 'is on' : 'still has machines on'} the OS image stream ${stream}, which ${meanings[state]}`;

function whatToDo({ pool, stream, goingTo }: Ending, streams: Streams): string {
  if (goingTo !== null) return `It is on its way to ${goingTo}: this ends when its last machine is there`;
  const to = successorsOf(stream, streams);
  if (to.length === 0) return `No stream of this release can follow it: make new machines in a new pool`;
  const target = to.length === 1 ? to.join('') : `one of ${listStreams(to.map((name) => ({ name })))}`;
  return `Set spec.osImageStream.name of MachineConfigPool ${pool} to ${target}`;
}

// What a payload says of the life of its streams: in annotations of a tag, and kept as JSON on the OSImageStream.

/** On the tag of an OS image in image-references. */
export const lifecycleAnnotations = {
  state: 'io.openshift.os.stream-lifecycle',
  successor: 'io.openshift.os.stream-successor',
  message: 'io.openshift.os.stream-message',
} as const;

const states = ['deprecated', 'blocked'] as const;

/** So that a hundred streams stay well below the 256 KiB that all annotations of an object share. */
const MAX_MESSAGE = 300;
const MAX_STREAMS = 100;
const MAX_TEXT = 200 * 1024;

export interface ReadLifecycle {
  /** Null: the stream lives. */
  readonly lifecycle: StreamLifecycle | null;
  /** What was not understood, and is not followed. */
  readonly problems: readonly CodedProblem[];
}

/** `tag` is for messages. */
export function lifecycleOfTag(tag: string, annotations: Readonly<Record<string, string>>): ReadLifecycle {
  const said = annotations[lifecycleAnnotations.state];
  if (said === undefined || said === '') return { lifecycle: null, problems: [] };
  const state = states.find((each) => each === said);
  if (state === undefined) {
    const meaning = 'The stream counts as one that lives';
    return { lifecycle: null, problems: [problemAt(tag, 'state', states.join(' or '), said, meaning)] };
  }
  const successor = annotations[lifecycleAnnotations.successor] ?? '';
  const isNamed = isStreamName(successor);
  const lifecycle = {
    state,
    successor: isNamed ? successor : null,
    message: plain(annotations[lifecycleAnnotations.message] ?? ''),
  };
  if (isNamed || successor === '') return { lifecycle, problems: [] };
  const problem = problemAt(tag, 'successor', 'the name of a stream', successor, 'No successor is named');
  return { lifecycle, problems: [problem] };
}

function problemAt(
  tag: string,
  field: keyof typeof lifecycleAnnotations,
  expected: string,
  found: string,
  meaning: string,
): CodedProblem {
  const shown = JSON.stringify(found.slice(0, 80));
  const message = `tag ${tag.slice(0, 80)} of image-references, annotation ${lifecycleAnnotations[field]}: expected ${expected}, found ${shown}. ${meaning}; the release has to be corrected`;
  return { code: 'SLW_STREAM_LIFECYCLE', message };
}

/** One line of text; null: none. */
function plain(text: string): string | null {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE)
    .trim();
  return line === '' ? null : line;
}

/** For the annotation; the same for the same streams in any order. Null: every stream lives. */
export function encodeLifecycle(lifecycle: ReadonlyMap<string, StreamLifecycle>): string | null {
  if (lifecycle.size === 0) return null;
  const sorted = [...lifecycle].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_STREAMS);
  return JSON.stringify(
    Object.fromEntries(sorted.map(([name, { state, successor, message }]) => [name, { state, successor, message }])),
  );
}

/** Anybody may have written there: what is not ours is not followed. */
export function decodeLifecycle(text: string | undefined): Map<string, StreamLifecycle> {
  const found = new Map<string, StreamLifecycle>();
  for (const [name, value] of Object.entries(parsed(text)).slice(0, MAX_STREAMS)) {
    const lifecycle = isStreamName(name) ? readLifecycle(value) : null;
    if (lifecycle !== null) found.set(name, lifecycle);
  }
  return found;
}

function parsed(text: string | undefined): object {
  if (text === undefined || text.length > MAX_TEXT) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function readLifecycle(value: unknown): StreamLifecycle | null {
  if (!isRecord(value)) return null;
  const state = states.find((each) => each === value['state']);
  if (state === undefined) return null;
  const { successor, message } = value;
  return {
    state,
    successor: typeof successor === 'string' && isStreamName(successor) ? successor : null,
    message: typeof message === 'string' ? plain(message) : null,
  };
}
