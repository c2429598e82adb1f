// Tracks writes that a controller's stores do not show yet. A decision on such a view could take down a second machine
// instead of the first, so the key waits until the watch has caught up.
import { isInScope } from '../client/list.ts';
import { isStored, type Key, keyOf, type KubeObject, resourceId } from '../client/resource.ts';
import type { LandedWrite } from '../client/writer.ts';
import type { Informer } from '../watch/informer.ts';
import type { Clock } from '@slipway/base/clock';
import type { Source } from './controller-def.ts';
import type { Log } from './log.ts';

export interface OwnWrites {
  /** Records a write by a run of the key. */
  add(key: Key, write: LandedWrite): void;
  /** Whether the stores lack writes that the key must see: its own, or those of all keys. */
  isBehind(key: Key): boolean;
  /** Called when a pending write becomes visible. */
  onSeen(listener: () => void): () => void;
  close(this: void): void;
}

export interface OwnWritesOptions {
  /** The informers in which writes become visible. */
  informers: ReadonlyMap<Source, Informer<KubeObject>>;
  of: 'key' | 'all';
  log: Log;
  clock: Pick<Clock, 'setTimer'>;
}

/**
 * Longer than a watch may be silent before it is considered broken. Only reached if versions went backwards, as after
 * restoring etcd from a backup.
 */
const MAX_WAIT_MS = 180_000;

interface PendingWrite {
  readonly key: Key;
  readonly write: LandedWrite;
  readonly informers: readonly Informer<KubeObject>[];
  cancelLimit(this: void): void;
}

export function createOwnWrites({ informers, of, log, clock }: OwnWritesOptions): OwnWrites {
  /** By reconciled key and written object. */
  const pending = new Map<string, PendingWrite>();
  /** The same by written object: most events are about none of them. */
  const idsOf = new Map<Key, Set<string>>();
  const count = new Map<Key, number>();
  const listeners = new Set<() => void>();
  let isClosed = false;
  const views = [...informers].map(([source, informer]) => ({ id: resourceId(source.resource), source, informer }));
  const unsubscribe = [...new Set(informers.values())].map((informer) =>
    informer.onProgress((key) => checkPending(informer, key)),
  );

  function checkPending(informer: Informer<KubeObject>, key: Key | undefined): void {
    if (pending.size === 0) return;
    let isNews = false;
    for (const id of key === undefined ? pending.keys() : (idsOf.get(key) ?? [])) {
      const each = pending.get(id);
      if (each?.informers.includes(informer) !== true) continue;
      if (!each.informers.every((one) => isSeen(one, each.write))) continue;
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
    const object = keyOf(old.write.object);
    const ids = idsOf.get(object);
    ids?.delete(id);
    if (ids?.size === 0) idsOf.delete(object);
    const left = (count.get(old.key) ?? 1) - 1;
    if (left === 0) count.delete(old.key);
    else count.set(old.key, left);
  }

  function limit(id: string): () => void {
    return clock.setTimer(MAX_WAIT_MS, () => {
      const late = pending.get(id);
      if (late === undefined) return;
      // A broken watch is no evidence that the write will never arrive.
      if (late.informers.some(({ problem }) => problem !== undefined)) {
        pending.set(id, { ...late, cancelLimit: limit(id) });
        return;
      }
      const { resource, object } = late.write;
      const about = { key: late.key, kind: resource.kind, object: keyOf(object), waitedMs: MAX_WAIT_MS };
      log.warn(about, 'the watch has not delivered a write; running the key without it');
      forget(id);
      for (const listener of listeners) listener();
    });
  }

  return {
    add(key, write) {
      const { resource, object } = write;
      if (isClosed || !isStored(object)) return;
      const [kind, name] = [resourceId(resource), keyOf(object)];
      const id = `${key} ${kind} ${name}`;
      const type = pending.get(id)?.write.type === 'created' ? 'created' : write.type;
      forget(id);
      const landed: LandedWrite = { type, resource, object };
      const where = views
        .filter((view) => view.id === kind && (type === 'changed' || isInScope(view.source, object)))
        .map(({ informer }) => informer)
        .filter((informer) => !isSeen(informer, landed));
      if (where.length === 0) return;
      pending.set(id, { key, write: landed, informers: where, cancelLimit: limit(id) });
      idsOf.set(name, (idsOf.get(name) ?? new Set()).add(id));
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

/** Versions are increasing numbers: the API server guarantees it since 1.35, and etcd has always done it. */
export function isSeen(
  { store, version }: Pick<Informer<KubeObject>, 'store' | 'version'>,
  write: LandedWrite,
): boolean {
  const isOlder = (seen: string): boolean => Number(seen) < Number(write.object.metadata.resourceVersion);
  if (version !== undefined && !isOlder(version)) return true;
  const seen = store.get(keyOf(write.object));
  // A missing object existed when it was changed: it was deleted since, or no longer matches the selector.
  if (seen === undefined) return write.type === 'changed';
  return !isOlder(seen.metadata.resourceVersion);
}
