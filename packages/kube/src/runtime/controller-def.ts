// Defines a controller: what it reads, what it alone may write, when it runs, and what one run does.
import type { Client } from '../client/client.ts';
import type { Key, KubeObject, Resource, Stored } from '../client/resource.ts';
import type { Writer } from '../client/writer.ts';
import type { Store } from '../watch/store.ts';
import type { Recorder } from './events.ts';
import type { Log } from './log.ts';

/** The store of a declared read; `which` distinguishes two reads of one resource. */
export type StoreReader = <T extends KubeObject>(resource: Resource<T>, which?: Which) => Store<T>;

export type Which = Pick<Source, 'namespace' | 'as'>;

/** A resource that a controller watches. Methods, so that sources of different kinds fit into one list. */
export interface Source<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>;
  readonly as?: 'full' | 'metadata';
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** `many` for kinds with one object per machine: Node, MachineConfigNode, Pod. */
  readonly expect?: 'few' | 'many';
  /** The part of each object to store. Sources with the same function share one store. */
  project?(this: void, received: Stored<T>): Stored<T>;
  readonly indexes?: Readonly<Record<string, Index<T>>>;
  /** The keys that a change of this object affects: by default its own, none for a source that is only read. */
  keysOf?(this: void, object: Stored<T>, read: StoreReader): readonly Key[];
  /**
   * Whether this update of an object can change its keys or a decision about them; by default every update of a stored
   * field can. For kinds with one object per machine, whose updates are mostly for other controllers.
   */
  concerns?(this: void, before: Stored<T>, after: Stored<T>): boolean;
  /** Whether changes arrive in bursts that `settleMs` waits for; true by default. */
  readonly settles?: boolean;
}

type Index<T extends KubeObject> = { of(this: void, object: Stored<T>): readonly string[] }['of'];

/** What a controller alone may write: an object, or one subresource (`status`, `eviction`) of it. */
export interface Owned {
  readonly resource: Resource;
  readonly subresource?: string;
}

export type Next = { type: 'done' } | { type: 'again'; afterMs: number };
export const done = (): Next => ({ type: 'done' });
export const again = (afterMs: number): Next => ({ type: 'again', afterMs });

export interface Context {
  readonly read: StoreReader;
  /** Refuses writes outside `owns`, and every write once `signal` is aborted. Reads are live. */
  readonly client: Client;
  /** The same client with precondition and field manager. The key's next run waits until the stores show its writes. */
  readonly write: Writer;
  readonly events: Recorder;
  readonly log: Log;
  /** Aborted at the time limit, when the process stops, and when leadership is lost. */
  readonly signal: AbortSignal;
  /** The last run of this key does not know whether its write succeeded: read live, the stores may be behind. */
  readonly unsure: boolean;
  now(this: void): Date;
}

/** Feature gates, provided from outside the runtime. */
export interface Gates {
  isOn(this: void, gate: string): boolean;
  onChange(this: void, listener: () => void): () => void;
}

export interface Gate {
  readonly name: string;
  /**
   * Removes what the controller wrote. Reads live: nothing is watched. Runs once the gate is off and the last run has
   * ended, or when a new leader finds the gate off, and is retried until it succeeds.
   */
  whenOff(this: void, context: Omit<Context, 'read' | 'unsure'>): Promise<void>;
}

/** The same for all keys, or computed when a key is about to run. */
export type Milliseconds = number | ((key: Key, read: StoreReader) => number);

export interface ControllerDef {
  readonly name: string;
  readonly reads: readonly Source[];
  readonly owns: readonly Owned[];
  readonly workers?: number;
  /** Keys reconciled at every start, even if no object leads to them yet. */
  readonly startsWith?: readonly Key[];
  /**
   * For triggers outside the cluster: `wake` requeues a key. Returns a function that stops listening. It is called after
   * the last run has ended, so that it can also close and reset what runs use, such as metrics.
   */
  listen?(this: void, wake: (key: Key) => void): () => void;
  /** The feature gate that must be on for this controller to run, and what to do while it is off. */
  readonly gate?: string | Gate;
  /** Other feature gates that its decisions depend on: a change of one requeues all keys. */
  readonly dependsOnGates?: readonly string[];
  /** Recorded as the owner of fields that `context.write` writes; by default `slipway-` and the name. */
  readonly fieldManager?: string;
  /** Whose writes the stores must show before a key runs: by default its own, or those of all keys. */
  readonly waitsForWritesOf?: 'key' | 'all';
  /** A key runs once its sources have been quiet for this long; in an endless burst, after twelve times that. */
  readonly settleMs?: Milliseconds;
  /** Minimum time from the start of one run of a key to the start of the next. */
  readonly minIntervalMs?: Milliseconds;
  readonly timeLimitMs?: number;
  reconcile(this: void, key: Key, context: Context): Promise<Next>;
}
