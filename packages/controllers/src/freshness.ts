// Whether what a controller sees is behind what it has itself written. A decision on such a view could take a second machine
// out of service for one place: it waits for the moment until the watch has caught up.
import { keyOf, type KubeObject, type Store, type Stored } from '@slipway/kube';

export interface Freshness {
  wrote(kind: string, written: Stored<KubeObject>): void;
  /** Whether the store of a kind lacks something that was written: of one object, or of any. */
  isBehind(kind: string, store: Pick<Store<KubeObject>, 'get'>, key?: string): boolean;
}

/** Versions are numbers that grow: the API server promises it since 1.35, and etcd has done it from its beginning. */
export function createFreshness(): Freshness {
  const written = new Map<string, Map<string, number>>();
  return {
    wrote(kind, object) {
      const ofKind = written.get(kind) ?? new Map<string, number>();
      ofKind.set(keyOf(object), Number(object.metadata.resourceVersion));
      written.set(kind, ofKind);
    },
    isBehind(kind, store, key) {
      const ofKind = written.get(kind);
      if (ofKind === undefined) return false;
      for (const each of key === undefined ? ofKind.keys() : [key]) {
        const seen = store.get(each);
        // One that is gone was there when it was written to: it was deleted since.
        if (seen === undefined || Number(seen.metadata.resourceVersion) >= (ofKind.get(each) ?? 0)) ofKind.delete(each);
      }
      return key === undefined ? ofKind.size > 0 : ofKind.has(key);
    },
  };
}
