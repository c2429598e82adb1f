import { systemClock } from '@slipway/base/clock';
import { isKubeError, KubeError } from '../client/errors.ts';
import { listBatches, type Scope } from '../client/list.ts';
import { type Key, keyOf, type KubeObject, type Resource, type Stored } from '../client/resource.ts';
import { createServedVersions } from '../client/served-version.ts';
import type { Transport } from '../client/transport.ts';
import { decideReconnect, type WatchEnd } from './reconnect.ts';
import {
  type Change,
  createStore,
  dropManagedFields,
  type IndexFunction,
  type Projection,
  type Store,
} from './store.ts';
import { lacksWatchList, type WatchEvent, watchOnce } from './watch.ts';
import { isEqualExcept } from '@slipway/base/equal';

export interface InformerOptions<T extends KubeObject> extends Scope<T> {
  /**
   * How many objects to expect. `few` (the default): one request streams them and their changes (WatchList).
   * `many`: list them first; for 10,000 Nodes that is twice as fast and a third of the server's work (ADR 12).
   */
  expect?: 'few' | 'many' | undefined;
  /** The part of each object to store; everything but managedFields by default. */
  project?: Projection<T> | undefined;
  indexes?: Readonly<Record<string, IndexFunction<T>>> | undefined;
  /** A watch failed; it is reopened. */
  onProblem?: ((error: unknown) => void) | undefined;
  /** Maximum delay before a retry; by default 30 s. */
  longestBackoffMs?: number | undefined;
  /** Delays a reconnect whose moment this process did not choose: createReconnectSpread. By default none. */
  spreadMs?: (() => number) | undefined;
}

export interface Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly store: Store<T>;
  /** Resolves when the store contains every object; never rejects. */
  readonly synced: Promise<void>;
  /** Why the store may be out of date; undefined while a watch is open. */
  readonly problem: unknown;
  /** By performance.now(): since when there has been no watch; undefined while one is open. */
  readonly downSince: number | undefined;
  /** The store is complete up to this version; undefined during the initial read. */
  readonly version: string | undefined;
  start(signal: AbortSignal): void;
  onChange(listener: (change: Change<T>) => void): () => void;
  /**
   * Called after every event, even if nothing stored changes: the store or `version` has advanced. Passes the key of
   * the object, or none if the event concerns all of them.
   */
  onProgress(listener: (key: Key | undefined) => void): () => void;
}

const DEFAULT_MAX_BACKOFF_MS = 30_000;

/** Keeps a store in sync with the API server: streams all objects, then follows their changes. */
export function createInformer<T extends KubeObject>(transport: Transport, options: InformerOptions<T>): Informer<T> {
  const store = createStore<T>(options.indexes);
  const { longestBackoffMs = DEFAULT_MAX_BACKOFF_MS } = options;
  const project = options.project ?? dropManagedFields;
  const listeners = new Set<(change: Change<T>) => void>();
  const followers = new Set<(key: Key | undefined) => void>();
  const { promise: synced, resolve: markSynced } = Promise.withResolvers<void>();
  const versions = createServedVersions(transport);
  /** The version of the kind that the stored objects have. */
  let readIn = options.resource.version;
  /** Where to resume; undefined: not synced, everything must be read. */
  let version: string | undefined;
  /** During a full read: the keys not seen yet. Those left at the end were deleted meanwhile. */
  let unseen: Set<Key> | undefined;
  let failures = 0;
  let listFirst = options.expect === 'many';
  let problem: unknown;
  let downSince: number | undefined = performance.now();

  const emit = (changes: Change<T>[]): void => {
    for (const change of changes) for (const listener of listeners) notify(listener, change);
  };
  const progress = (key: Key | undefined): void => {
    for (const follower of followers) notify(follower, key);
  };

  /** The store has already changed: a listener that throws must not hide the change from the others. */
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
    // Kubelets update their Nodes all the time: no listener is called unless a stored field has changed.
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
    // During a full read that keeps failing, receiving an object is not progress.
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

  async function readList(scope: Scope<T>, signal: AbortSignal): Promise<void> {
    const batches = listBatches(transport, scope, { signal });
    let next = await batches.next();
    for (; next.done !== true; next = await batches.next()) for (const object of next.value) put(object);
    finishReading(next.value);
  }

  async function follow(signal: AbortSignal): Promise<WatchEnd> {
    const resource = await versions.find(options.resource, signal);
    const scope = { ...options, resource };
    // The stored objects have the fields of another version.
    if (resource.version !== readIn) version = undefined;
    readIn = resource.version;
    if (version === undefined) {
      unseen = new Set(store.keys());
      if (listFirst) await readList(scope, signal);
    }
    const onOpen = (): void => {
      problem = undefined;
      downSince = undefined;
    };
    return watchOnce(transport, scope, { from: version, signal, onOpen }, take);
  }

  function recover(error: unknown): WatchEnd {
    if (!listFirst && lacksWatchList(error)) {
      listFirst = true;
      return { type: 'expired' };
    }
    if (isKubeError(error, 'SLW_KUBE_GONE')) version = undefined;
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) versions.forget(options.resource);
    problem = error;
    options.onProblem?.(error);
    return { type: 'failed', retryAfterMs: error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0 };
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let end: WatchEnd;
      try {
        end = await follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        end = recover(error);
      }
      downSince ??= performance.now();
      const spreadMs = end.type === 'expired' ? 0 : (options.spreadMs?.() ?? 0);
      const next = decideReconnect(end, failures, { maxBackoffMs: longestBackoffMs, spreadMs });
      failures = next.failures;
      if (next.delayMs > 0) await systemClock.sleep(next.delayMs, signal).catch(() => {});
    }
  }

  return {
    resource: options.resource,
    store,
    synced,
    get problem() {
      return problem;
    },
    get downSince() {
      return downSince;
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

/** Whether two versions of an object differ in no stored field. */
export const isSameButVersion = (old: Stored<KubeObject>, object: Stored<KubeObject>): boolean =>
  isEqualExcept('metadata', old, object) && isEqualExcept('resourceVersion', old.metadata, object.metadata);
