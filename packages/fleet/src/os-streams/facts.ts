// What the OS of a pool is decided on, and what comes of it: plain data.
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
