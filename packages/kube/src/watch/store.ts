import { type Key, keyOf, type KubeObject, type Stored } from '../client/resource.ts';

export type Change<T extends KubeObject> =
  | { type: 'added'; object: Stored<T> }
  | { type: 'updated'; old: Stored<T>; object: Stored<T> }
  | { type: 'deleted'; old: Stored<T> };

/** The objects of one scope as last observed. They are shared: never modify them. */
export interface Store<T extends KubeObject> {
  get(key: Key): Stored<T> | undefined;
  values(): IterableIterator<Stored<T>>;
  readonly size: number;
  /** The objects indexed under `value`. */
  byIndex(index: string, value: string): readonly Stored<T>[];
  /** Whether any object is indexed under `value`. */
  hasIndexed(index: string, value: string): boolean;
}

/** The values an object is indexed under, e.g. the names of the Secrets it uses. */
export type IndexFunction<T extends KubeObject> = (object: Stored<T>) => readonly string[];

export interface WritableStore<T extends KubeObject> extends Store<T> {
  /** Stores an object and returns what changed: nothing, if this version is already stored. */
  put(object: Stored<T>): Change<T>[];
  remove(key: Key): Change<T>[];
  keys(): IterableIterator<Key>;
}

export function createStore<T extends KubeObject>(
  indexes: Readonly<Record<string, IndexFunction<T>>> = {},
): WritableStore<T> {
  const objects = new Map<Key, Stored<T>>();
  const table = new Map(
    Object.entries(indexes).map(([name, valuesOf]) => [name, { valuesOf, keysOf: new Map<string, Set<Key>>() }]),
  );

  function reindex(key: Key, old: Stored<T> | undefined, object: Stored<T> | undefined): void {
    // Call all functions first: one that throws must not leave the store half updated.
    const moves = [...table.values()].map(({ valuesOf, keysOf }) => ({
      keysOf,
      from: old === undefined ? [] : valuesOf(old),
      to: object === undefined ? [] : valuesOf(object),
    }));
    for (const { keysOf, from, to } of moves) {
      for (const value of from) removeFrom(keysOf, value, key);
      for (const value of to) addTo(keysOf, value, key);
    }
  }

  function remove(key: Key): Change<T>[] {
    const old = objects.get(key);
    if (old === undefined) return [];
    reindex(key, old, undefined);
    objects.delete(key);
    return [{ type: 'deleted', old }];
  }

  function indexed(index: string, value: string): ReadonlySet<Key> {
    const known = table.get(index);
    if (known === undefined) throw new Error(`no index named ${index}; available: ${[...table.keys()].join(', ')}`);
    return known.keysOf.get(value) ?? new Set();
  }

  return {
    get: (key) => objects.get(key),
    values: () => objects.values(),
    keys: () => objects.keys(),
    get size() {
      return objects.size;
    },
    byIndex: (index, value) => [...indexed(index, value)].flatMap((key) => objects.get(key) ?? []),
    hasIndexed: (index, value) => indexed(index, value).size > 0,
    put(object) {
      const key = keyOf(object);
      const old = objects.get(key);
      if (old !== undefined && old.metadata.uid !== object.metadata.uid) {
        // Deleted and recreated unobserved: two changes, not one.
        return [...remove(key), ...this.put(object)];
      }
      // Read again in another version of its kind, it has other fields.
      const isSame = old?.metadata.resourceVersion === object.metadata.resourceVersion;
      if (isSame && old?.apiVersion === object.apiVersion) return [];
      reindex(key, old, object);
      objects.set(key, object);
      return [old === undefined ? { type: 'added', object } : { type: 'updated', old, object }];
    },
    remove,
  };
}

function addTo(keysOf: Map<string, Set<Key>>, value: string, key: Key): void {
  const keys = keysOf.get(value);
  if (keys === undefined) keysOf.set(value, new Set([key]));
  else keys.add(key);
}

function removeFrom(keysOf: Map<string, Set<Key>>, value: string, key: Key): void {
  const keys = keysOf.get(value);
  keys?.delete(key);
  if (keys?.size === 0) keysOf.delete(value);
}

/** Computes what to store of a received object, which is fresh and may be modified in place. */
export type Projection<T extends KubeObject> = (received: Stored<T>) => Stored<T>;

/** managedFields is a third of a Node, and nothing here uses it. */
export function dropManagedFields<T extends KubeObject>(received: Stored<T>): Stored<T> {
  Reflect.deleteProperty(received.metadata, 'managedFields');
  return received;
}
