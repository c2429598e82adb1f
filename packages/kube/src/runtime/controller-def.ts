// What a controller is: what it reads, what it alone may write, when it runs, and what one run of it does.
import type { Client } from '../client/client.ts';
import type { Key, KubeObject, Resource, Stored } from '../client/resource.ts';
import type { Writer } from '../client/writer.ts';
import type { Store } from '../watch/store.ts';
import type { Recorder } from './events.ts';
import type { Log } from './log.ts';

/** The store of a declared read; `which` tells two reads of one resource apart. */
export type StoreReader = <T extends KubeObject>(resource: Resource<T>, which?: Which) => Store<T>;

export type Which = Pick<Source, 'namespace' | 'as'>;

/** What a controller watches. Its functions are methods so that sources of different kinds fit into one list. */
export interface Source<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>;
  readonly as?: 'full' | 'metadata';
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** `many` for kinds of which there is one a machine: Node, MachineConfigNode, Pod. */
  readonly expect?: 'few' | 'many';
  /** What to keep of each object. Sources with the same function share one store. */
  project?(this: void, received: Stored<T>): Stored<T>;
  readonly indexes?: Readonly<Record<string, Index<T>>>;
  /** Which keys a change of this object concerns; its own by default, none for what is only read. */
  keysOf?(this: void, object: Stored<T>, read: StoreReader): readonly Key[];
  /** Whether its changes come in bursts that `settleMs` waits for; true by default. */
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
  /** Refuses writes outside `owns`, and every write once `signal` is aborted. Its reads are live. */
  readonly client: Client;
  /** The same, with precondition and field manager. The next run of the key begins when the stores show what was written. */
  readonly write: Writer;
  readonly events: Recorder;
  readonly log: Log;
  /** Aborted at the time limit, when the process stops, and when leadership is lost. */
  readonly signal: AbortSignal;
  /** The last run of this key does not know whether its write landed: read live, the stores may be behind. */
  readonly unsure: boolean;
  now(this: void): Date;
}

/** Feature gates, as somebody outside of the runtime knows them. */
export interface Gates {
  isOn(this: void, gate: string): boolean;
  onChange(this: void, listener: () => void): () => void;
}

export interface Gate {
  readonly name: string;
  /**
   * Takes back what the controller has written, and reads live: nothing is watched. Runs when the gate has been turned off
   * and the last run has ended, and at the start of a leader that finds it off; again until it succeeds.
   */
  whenOff(this: void, context: Omit<Context, 'read' | 'unsure'>): Promise<void>;
}

/** The same for all keys, or to be asked for when a key is about to run. */
export type Milliseconds = number | ((key: Key, read: StoreReader) => number);

export interface ControllerDef {
  readonly name: string;
  readonly reads: readonly Source[];
  readonly owns: readonly Owned[];
  readonly workers?: number;
  /** Keys that are reconciled at every start, also where nothing exists yet that would lead to them. */
  readonly startsWith?: readonly Key[];
  /** For what happens outside of the cluster: `wake` has a key reconciled. Returns the way to stop listening. */
  listen?(this: void, wake: (key: Key) => void): () => void;
  /** The feature gate that must be on for this controller to run, and what to do when it is not. */
  readonly gate?: string | Gate;
  /** Other feature gates that its decisions depend on: all keys run again when one of them is turned on or off. */
  readonly dependsOnGates?: readonly string[];
  /** Whom the server notes as the owner of what `context.write` writes; `slipway-` and the name by default. */
  readonly fieldManager?: string;
  /** What the stores must show before a key runs: what earlier runs of it have written, by default, or those of all keys. */
  readonly waitsForWritesOf?: 'key' | 'all';
  /** A key runs when nothing it reads has changed for so long; in a burst of changes without end, after twelve times that. */
  readonly settleMs?: Milliseconds;
  /** From the start of a run of a key to the start of its next. */
  readonly minIntervalMs?: Milliseconds;
  readonly timeLimitMs?: number;
  reconcile(this: void, key: Key, context: Context): Promise<Next>;
}
