// What the OS of a pool is decided on, and what comes of it: plain data.
import { isSameStream, knownStream, streamStep } from '@slipway/api';
import type { CodedProblem } from '../problems.ts';

export interface StreamImages {
  readonly osImage: string;
  readonly osExtensionsImage: string;
}

export interface Stream extends StreamImages {
  readonly name: string;
}

/** What a payload says of the life of a stream. One that it says nothing of lives. */
export interface StreamLifecycle {
  readonly state: 'deprecated' | 'blocked';
  /** The stream to go to; null: the payload names none. */
  readonly successor: string | null;
  /** The payload's own words; null: none. */
  readonly message: string | null;
}

/** The streams of a cluster, from its OSImageStream. */
export interface Streams {
  readonly available: readonly Stream[];
  readonly defaultStream: string;
  /** By the name of the stream. */
  readonly lifecycle: ReadonlyMap<string, StreamLifecycle>;
}

/** The stream that a pool is on, from its annotations. */
export interface TrackedStream {
  /** Null: the OS came before streams, and nothing tells which one it is. It stays as it is. */
  readonly name: string | null;
  /** As they were last there: what the pool keeps when its stream is gone. Null: none are known. */
  readonly images: StreamImages | null;
}

export interface PoolStreamFacts {
  readonly pool: string;
  /** spec.osImageStream.name; null: the owner has said nothing. */
  readonly asked: string | null;
  readonly tracked: TrackedStream | null;
  /** For a pool that takes the MachineConfigs of worker and adds its own: the stream that worker is on; null: not known yet. Undefined: the pool follows nobody. */
  readonly worker: TrackedStream | null | undefined;
  /** What the machines of a pool that is not tracked run: null: it has none, so it is new. */
  readonly runs: { readonly stream: string | null; readonly images: StreamImages | null } | null;
}

/** What a pool's OS follows, and why. */
export type PoolStream =
  | {
      readonly type: 'follows';
      readonly stream: Stream;
      readonly because: 'asked' | 'tracked' | 'follows worker' | 'runs it' | 'default';
    }
  /** The stream is gone from the payload, or nobody can tell which it was: the OS stays what it is. */
  | { readonly type: 'frozen'; readonly at: TrackedStream; readonly because: 'removed' | 'unknown' }
  /** The owner asks for what cannot be; the OS stays what it is. */
  | { readonly type: 'refused'; readonly at: TrackedStream | null; readonly problem: CodedProblem }
  /** Worker has no stream yet. */
  | { readonly type: 'waits' };

// The streams that there are, by name.

/** As Kubernetes names objects, which is what the API takes for a stream. */
const NAME_PATTERN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;
const MAX_NAMES = 10;

export const isStreamName = (text: string): boolean => text.length <= MAX_NAME && NAME_PATTERN.test(text);

/** By its own name, else by one that means the same. */
export const findStream = (available: readonly Stream[], name: string): Stream | undefined =>
  available.find((each) => each.name === name) ?? available.find((each) => isSameStream(each.name, name));

/** For a sentence. */
export function listStreams(available: readonly { readonly name: string }[]): string {
  const names = available.map(({ name }) => name).sort();
  if (names.length === 0) return 'none';
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What the payload says of a stream, under whichever name; undefined: nothing, so it lives. */
export function findLifecycle(name: string, { lifecycle }: Streams): StreamLifecycle | undefined {
  const exact = lifecycle.get(name);
  if (exact !== undefined) return exact;
  for (const [other, found] of lifecycle) if (isSameStream(other, name)) return found;
  return undefined;
}

/**
 * Where a pool on a stream can go: what the payload names, else the next one of the family that is in full life, else
 * any that is. Empty: nowhere.
 */
export function listSuccessors(name: string, streams: Streams): string[] {
  const named = findLifecycle(name, streams)?.successor ?? null;
  const successor = named === null ? undefined : findStream(streams.available, named);
  if (successor !== undefined && canGo(name, successor.name)) return [successor.name];
  const living = streams.available
    .map((each) => each.name)
    .filter((each) => canGo(name, each) && findLifecycle(each, streams) === undefined);
  const next = living.filter((each) => streamStep(name, each) === 'forward').sort(byMajor);
  return next.length > 0 ? next.slice(0, 1) : living.sort();
}

const canGo = (from: string, to: string): boolean => ['forward', 'unknown'].includes(streamStep(from, to));

const byMajor = (a: string, b: string): number => (knownStream(a)?.major ?? 0) - (knownStream(b)?.major ?? 0);
