// What a controller has written and its stores do not show yet. To decide on such a view could be to take a second machine
// out of service in the place of the first one: the key waits for the moment until the watch has caught up.
import { isInScope } from '../client/list.ts';
import { isStored, type Key, keyOf, type KubeObject, resourceId } from '../client/resource.ts';
import type { LandedWrite } from '../client/writer.ts';
import type { Informer } from '../watch/informer.ts';
import type { Clock } from '@slipway/base/clock';
import type { Source } from './controller-def.ts';
import type { Log } from './log.ts';

export interface OwnWrites {
  /** A run of the key has written this. */
  add(key: Key, write: LandedWrite): void;
  /** Whether a run of the key would see less than it has to: what runs of the key wrote, or of all keys. */
  isBehind(key: Key): boolean;
  /** Called when something has been seen. */
  onSeen(listener: () => void): () => void;
  close(this: void): void;
}

export interface OwnWritesOptions {
  /** Where writes can be seen. */
  informers: ReadonlyMap<Source, Informer<KubeObject>>;
  of: 'key' | 'all';
  log: Log;
  clock: Pick<Clock, 'setTimer'>;
}

/**
 * Longer than a watch may be silent before it counts as broken. It comes to this only where versions went back, as after etcd
 * was restored from a backup.
 */
const MAX_WAIT_MS = 180_000;

interface PendingWrite {
  readonly key: Key;
  readonly write: LandedWrite;
  readonly informers: readonly Informer<KubeObject>[];
  cancelLimit(this: void): void;
}

export function createOwnWrites({ informers, of, log, clock }: OwnWritesOptions): OwnWrites {
  /** By the key that was run and the object that was written. */
  const pending = new Map<string, PendingWrite>();
  const count = new Map<Key, number>();
  const listeners = new Set<() => void>();
  let isClosed = false;
  const unsubscribe = [...new Set(informers.values())].map((informer) =>
    informer.onProgress((key) => checkPending(informer, key)),
  );

  function checkPending(informer: Informer<KubeObject>, key: Key | undefined): void {
    if (pending.size === 0) return;
    let isNews = false;
    for (const [id, each] of pending) {
      const isMeant = each.informers.includes(informer) && (key === undefined || keyOf(each.write.object) === key);
      if (!isMeant || !each.informers.every((one) => isSeen(one, each.write))) continue;
      forget(id);
      isNews = true;
    }
    if (isNews) for (const listener of listeners) listener();
  }

  function forget(id: string): void {
    const old = pending.get(id);
    if (old === undefined) return;
    old.cancelLimit();
    pending.delete(id);
    const left = (count.get(old.key) ?? 1) - 1;
    if (left === 0) count.delete(old.key);
    else count.set(old.key, left);
  }

  function limit(id: string): () => void {
    return clock.setTimer(MAX_WAIT_MS, () => {
      const late = pending.get(id);
      if (late === undefined) return;
      // While a watch is broken, it says nothing of what it would bring.
      if (late.informers.some(({ problem }) => problem !== undefined)) {
        pending.set(id, { ...late, cancelLimit: limit(id) });
        return;
      }
      const { resource, object } = late.write;
      const about = { key: late.key, kind: resource.kind, object: keyOf(object), waitedMs: MAX_WAIT_MS };
      log.warn(about, 'the watch has not brought what was written; the key is run without it');
      forget(id);
      for (const listener of listeners) listener();
    });
  }

  return {
    add(key, write) {
      const { resource, object } = write;
      if (isClosed || !isStored(object)) return;
      const id = `${key} ${resourceId(resource)} ${keyOf(object)}`;
      const type = pending.get(id)?.write.type === 'created' ? 'created' : write.type;
      forget(id);
      const where = [...informers]
        .filter(([source]) => resourceId(source.resource) === resourceId(resource))
        .filter(([source]) => type === 'changed' || isInScope(source, object))
        .map(([, informer]) => informer)
        .filter((informer) => !isSeen(informer, { ...write, type }));
      if (where.length === 0) return;
      pending.set(id, { key, write: { ...write, type }, informers: where, cancelLimit: limit(id) });
      count.set(key, (count.get(key) ?? 0) + 1);
    },
    isBehind: (key) => (of === 'all' ? pending.size > 0 : count.has(key)),
    onSeen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isClosed = true;
      for (const stop of unsubscribe) stop();
      for (const id of pending.keys()) forget(id);
    },
  };
}

/** Versions are numbers that grow: the API server promises it since 1.35, and etcd has done it from its beginning. */
export function isSeen(
  { store, version }: Pick<Informer<KubeObject>, 'store' | 'version'>,
  write: LandedWrite,
): boolean {
  const isOlder = (seen: string): boolean => Number(seen) < Number(write.object.metadata.resourceVersion);
  if (version !== undefined && !isOlder(version)) return true;
  const seen = store.get(keyOf(write.object));
  // What is gone was there when it was changed: it was deleted since, or selects itself out of what is watched.
  if (seen === undefined) return write.type === 'changed';
  return !isOlder(seen.metadata.resourceVersion);
}
