// What a controller sees of a kind: the changes of the log up to some position, in order, often without the last ones.
import {
  formatApiVersion,
  type Change,
  isSameButVersion,
  keyOf,
  type KubeObject,
  type Source,
  type Store,
  type Stored,
} from '@slipway/kube';
import type { MemoryApi } from './memory-api.ts';
import { selects } from './selectors.ts';

export interface View {
  readonly source: Source;
  readonly store: Store<KubeObject>;
  /** The objects on the server at this position, whatever the controller stores of them. Immutable. */
  seen(): ReadonlyMap<string, Stored<KubeObject>>;
  /** The version of the last change that it shows. */
  readonly version: string;
  /** How many changes it does not show yet. */
  readonly behind: number;
  /** Applies the next change, and returns its effect here. */
  advance(): Change<KubeObject>[];
}

/** Starts with all existing objects, as a list does. */
export function openView(api: MemoryApi, source: Source): View {
  const seen = new Map<string, Stored<KubeObject>>();
  const kept = new Map<string, Stored<KubeObject>>();
  let snapshot: ReadonlyMap<string, Stored<KubeObject>> | null = null;
  const changes = api.changesOf(source.resource);
  let place = changes.length;

  function put(object: Stored<KubeObject>): Change<KubeObject>[] {
    const key = keyOf(object);
    const old = kept.get(key);
    const next = keep(source, object);
    seen.set(key, object);
    kept.set(key, next);
    if (old !== undefined && old.metadata.uid !== next.metadata.uid) {
      return [
        { type: 'deleted', old },
        { type: 'added', object: next },
      ];
    }
    if (old === undefined) return [{ type: 'added', object: next }];
    // As in the informer: if no stored field changed, nothing is triggered.
    const isQuiet = source.project !== undefined && isSameButVersion(old, next);
    return isQuiet ? [] : [{ type: 'updated', old, object: next }];
  }

  function remove(key: string): Change<KubeObject>[] {
    const old = kept.get(key);
    seen.delete(key);
    kept.delete(key);
    return old === undefined ? [] : [{ type: 'deleted', old }];
  }

  function indexed(index: string, value: string): Stored<KubeObject>[] {
    const valuesOf = source.indexes?.[index];
    if (valuesOf === undefined) throw new Error(`no index named ${index}`);
    return [...kept.values()].filter((object) => valuesOf(object).includes(value));
  }

  for (const object of api.list(source.resource)) if (selects(source, object)) put(object);

  return {
    source,
    seen: () => (snapshot ??= new Map(seen)),
    store: {
      get: (key) => kept.get(key),
      values: () => kept.values(),
      get size() {
        return kept.size;
      },
      byIndex: indexed,
      hasIndexed: (index, value) => indexed(index, value).length > 0,
    },
    get version() {
      return changes[place - 1]?.object.metadata.resourceVersion ?? '0';
    },
    get behind() {
      return changes.length - place;
    },
    advance() {
      const change = changes[place];
      if (change === undefined) return [];
      place += 1;
      snapshot = null;
      const isThere = change.type !== 'DELETED' && selects(source, change.object);
      return isThere ? put(change.object) : remove(keyOf(change.object));
    },
  };
}

/** A projection that mutates its input fails here: objects in the store are frozen. */
function keep({ resource, as, project }: Source, object: Stored<KubeObject>): Stored<KubeObject> {
  const metadataOnly = { apiVersion: formatApiVersion(resource), kind: resource.kind, metadata: object.metadata };
  const sent = as === 'metadata' ? metadataOnly : object;
  return project === undefined ? sent : project(sent);
}
