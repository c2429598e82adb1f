// The input and the result of the OS decision for a pool: plain data.
import { isSameStream, knownStream, streamStep } from '@slipway/api';
import type { CodedProblem } from '../problems.ts';

export interface StreamImages {
  readonly osImage: string;
  readonly osExtensionsImage: string;
}

export interface Stream extends StreamImages {
  readonly name: string;
}

/** The lifecycle that a payload or a user declares for a stream. Without a declaration it is supported. */
export interface StreamLifecycle {
  /** `removed`: pools cannot use it. Only a user declares this: a payload no longer contains the stream. */
  readonly state: 'deprecated' | 'blocked' | 'removed';
  /** The stream to move to; null: none is named. */
  readonly successor: string | null;
  /** The message of the payload or the user; null: none. */
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
  /** Null: the OS predates streams, and its stream is unknown. The OS does not change. */
  readonly name: string | null;
  /** The last known images: the pool keeps them if its stream is removed. Null: unknown. */
  readonly images: StreamImages | null;
}

export interface PoolStreamFacts {
  readonly pool: string;
  /** spec.osImageStream.name; null: not set. */
  readonly asked: string | null;
  readonly tracked: TrackedStream | null;
  /** The stream of worker, if the pool builds on worker; null: unknown yet. Undefined: an independent pool. */
  readonly worker: TrackedStream | null | undefined;
  /** What the machines of an untracked pool run; null: it has no machines, so it is new. */
  readonly runs: { readonly stream: string | null; readonly images: StreamImages | null } | null;
}

/** What the OS of a pool follows, and why. */
export type PoolStream =
  | {
      readonly type: 'follows';
      readonly stream: Stream;
      readonly because: 'asked' | 'tracked' | 'follows worker' | 'runs it' | 'default';
    }
  /** The stream was removed from the payload, or is unknown: the OS does not change. */
  | { readonly type: 'frozen'; readonly at: TrackedStream; readonly because: 'removed' | 'unknown' }
  /** The requested stream is impossible: the OS does not change. */
  | { readonly type: 'refused'; readonly at: TrackedStream | null; readonly problem: CodedProblem }
  /** Worker has no stream yet. */
  | { readonly type: 'waits' };

// The available streams, by name.

/** The API accepts the same names as for Kubernetes objects. */
const NAME_PATTERN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;
const MAX_NAMES = 10;

export const isStreamName = (text: string): boolean => text.length <= MAX_NAME && NAME_PATTERN.test(text);

/** By its name, else by an alias. */
export const findStream = (available: readonly Stream[], name: string): Stream | undefined =>
  available.find((each) => each.name === name) ?? available.find((each) => isSameStream(each.name, name));

/** For messages. */
export function listStreams(available: readonly { readonly name: string }[]): string {
  const names = available.map(({ name }) => name).sort();
  if (names.length === 0) return 'none';
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The lifecycle of a stream, under any of its names; undefined: none is declared, so it is supported. */
export function findLifecycle(name: string, { lifecycle }: Streams): StreamLifecycle | undefined {
  const exact = lifecycle.get(name);
  if (exact !== undefined) return exact;
  for (const [other, found] of lifecycle) if (isSameStream(other, name)) return found;
  return undefined;
}

/**
 * The streams that a pool can move to: the successor that the payload names, else the next supported one of the family,
 * else any supported one. Empty: none.
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
