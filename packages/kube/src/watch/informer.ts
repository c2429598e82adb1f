import { backoffMs, halfJitter } from '@slipway/base/backoff';
import { systemClock } from '@slipway/base/clock';
import { isKubeError, KubeError } from '../client/errors.ts';
import { listBatches, type Scope } from '../client/list.ts';
import { type Key, keyOf, type KubeObject, type Resource, type Stored } from '../client/resource.ts';
import type { Transport } from '../client/transport.ts';
import {
  type Change,
  createStore,
  dropManagedFields,
  type IndexFunction,
  type Projection,
  type Store,
} from './store.ts';
import { lacksWatchList, type WatchEvent, watchOnce } from './watch.ts';
import { isEqual } from '@slipway/base/equal';

export interface InformerOptions<T extends KubeObject> extends Scope<T> {
  /**
   * How many objects the reader expects. `few` (the default): one request streams them and their changes (WatchList).
   * `many`: they are listed first; for 10,000 Nodes that is twice as fast and a third of the server's work (ADR 12).
   */
  expect?: 'few' | 'many' | undefined;
  /** What to keep of each object; everything but managedFields by default. */
  project?: Projection<T> | undefined;
  indexes?: Readonly<Record<string, IndexFunction<T>>> | undefined;
  /** A watch ended abnormally; it is opened again. */
  onProblem?: ((error: unknown) => void) | undefined;
  /** How long to wait at most before trying again; half a minute by default, so that a fleet does not ask all at once. */
  longestBackoffMs?: number | undefined;
}

export interface Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly store: Store<T>;
  /** Resolves when the store holds every object once; never rejects. */
  readonly synced: Promise<void>;
  /** Why the store may be behind; undefined while a watch is open. */
  readonly problem: unknown;
  /** The store has everything up to this version; undefined while everything is being read. */
  readonly version: string | undefined;
  start(signal: AbortSignal): void;
  onChange(listener: (change: Change<T>) => void): () => void;
  /**
   * Called after every event, also one that changes nothing that is kept: the store, or `version`, has moved on. With the
   * key of the object; without one where it is about all of them.
   */
  onProgress(listener: (key: Key | undefined) => void): () => void;
}

const DEFAULT_MAX_BACKOFF_MS = 30_000;

/** Keeps a store equal to what the API server holds: streams all objects, then follows their changes for ever. */
export function createInformer<T extends KubeObject>(transport: Transport, options: InformerOptions<T>): Informer<T> {
  const store = createStore<T>(options.indexes);
  const { longestBackoffMs = DEFAULT_MAX_BACKOFF_MS } = options;
  const project = options.project ?? dropManagedFields;
  const listeners = new Set<(change: Change<T>) => void>();
  const followers = new Set<(key: Key | undefined) => void>();
  const { promise: synced, resolve: markSynced } = Promise.withResolvers<void>();
  /** Where to go on from; undefined: not synced, everything must be read. */
  let version: string | undefined;
  /** While everything is read: the keys not seen yet. What is left at the end was deleted meanwhile. */
  let unseen: Set<Key> | undefined;
  let failures = 0;
  let listFirst = options.expect === 'many';
  let problem: unknown;

  const emit = (changes: Change<T>[]): void => {
    for (const change of changes) for (const listener of listeners) notify(listener, change);
  };
  const progress = (key: Key | undefined): void => {
    for (const follower of followers) notify(follower, key);
  };

  /** The store has changed already: one listener that breaks must not keep the change from the others. */
  function notify<V>(listener: (value: V) => void, value: V): void {
    try {
      listener(value);
    } catch (error) {
      options.onProblem?.(error);
    }
  }

  function put(received: Stored<T>): void {
    const object = project(received);
    const old = store.get(keyOf(object));
    unseen?.delete(keyOf(object));
    const changes = store.put(object);
    // Kubelets write to their Nodes all the time: where nothing that is kept has changed, nobody is woken.
    if (options.project === undefined || old === undefined || !isSameButVersion(old, object)) emit(changes);
  }

  function finishReading(at: string): void {
    for (const key of unseen ?? []) emit(store.remove(key));
    unseen = undefined;
    version = at;
    markSynced();
    progress(undefined);
  }

  function take(event: WatchEvent<T>): void {
    // While everything is read again and again, and never to the end, an object is no progress.
    if (version !== undefined) failures = 0;
    if (event.type === 'BOOKMARK') {
      if (event.initialEventsEnd) finishReading(event.resourceVersion);
      else if (version !== undefined) {
        version = event.resourceVersion;
        progress(undefined);
      }
      return;
    }
    if (event.type === 'DELETED') emit(store.remove(keyOf(event.object)));
    else put(event.object);
    if (version !== undefined) version = event.object.metadata.resourceVersion;
    if (followers.size > 0) progress(keyOf(event.object));
  }

  async function readList(signal: AbortSignal): Promise<void> {
    const batches = listBatches(transport, options, { signal });
    let next = await batches.next();
    for (; next.done !== true; next = await batches.next()) for (const object of next.value) put(object);
    finishReading(next.value);
  }

  async function follow(signal: AbortSignal): Promise<void> {
    if (version === undefined) {
      unseen = new Set(store.keys());
      if (listFirst) await readList(signal);
    }
    const opened = performance.now();
    const onOpen = (): void => {
      problem = undefined;
    };
    await watchOnce(transport, options, { from: version, signal, onOpen }, take);
    // A server (or something in between) that hangs up at once must not be asked again in a tight loop.
    failures = performance.now() - opened < 1000 ? failures + 1 : 0;
  }

  function recover(error: unknown): void {
    if (!listFirst && lacksWatchList(error)) {
      listFirst = true;
      return;
    }
    if (isKubeError(error, 'SLW_KUBE_GONE')) version = undefined;
    failures += 1;
    problem = error;
    options.onProblem?.(error);
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        recover(error);
      }
      if (failures > 0) await systemClock.sleep(backoff(failures, problem, longestBackoffMs), signal).catch(() => {});
    }
  }

  return {
    resource: options.resource,
    store,
    synced,
    get problem() {
      return problem;
    },
    get version() {
      return version;
    },
    start(signal) {
      void run(signal);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onProgress(listener) {
      followers.add(listener);
      return () => followers.delete(listener);
    },
  };
}

/** Whether two versions of an object differ in nothing that was kept of them. */
export const isSameButVersion = (old: Stored<KubeObject>, { metadata, ...rest }: Stored<KubeObject>): boolean =>
  isEqual(old, { ...rest, metadata: { ...metadata, resourceVersion: old.metadata.resourceVersion } });

function backoff(failures: number, problem: unknown, maxMs: number): number {
  const asked = problem instanceof KubeError ? (problem.retryAfterMs ?? 0) : 0;
  return Math.max(asked, backoffMs({ firstMs: 100, maxMs, jitter: halfJitter }, failures));
}
