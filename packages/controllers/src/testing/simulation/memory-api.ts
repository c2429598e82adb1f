// An API server in memory: versions, preconditions, generations, status, graceful deletion and eviction as in
// kube-apiserver, for the kinds of a rollout. e2e/in-memory-api.e2e.test.ts compares it with the real one.
import { type PodDisruptionBudget, podDisruptionBudgets, pods } from '@slipway/api';
import {
  formatApiVersion,
  type DeleteOptions,
  keyOf,
  KubeError,
  type KubeObject,
  type Name,
  type Patch,
  type Precondition,
  type Resource,
  resourceId,
  type Stored,
} from '@slipway/kube';
import { isDeepStrictEqual } from 'node:util';
import { isBlocking, isHeldByBudgets } from './eviction.ts';
import { jsonPatch, mergePatch } from './patches.ts';
import { keepsItsRules, startsAs } from './rules.ts';

export interface LoggedChange {
  readonly resource: Resource;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Stored<KubeObject>;
  /** The previous object; undefined: it did not exist. */
  readonly old: Stored<KubeObject> | undefined;
}

export interface MemoryApi {
  find<T extends KubeObject>(resource: Resource<T>, name: Name): Stored<T> | undefined;
  /** Throws SLW_KUBE_NOT_FOUND. */
  get<T extends KubeObject>(resource: Resource<T>, name: Name): Stored<T>;
  list<T extends KubeObject>(resource: Resource<T>): Stored<T>[];
  create<T extends KubeObject>(resource: Resource<T>, object: T): Stored<T>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    name: Name,
    patch: Patch,
    precondition?: Precondition,
    subresource?: string,
  ): Stored<T>;
  delete(resource: Resource, name: Name, precondition?: Precondition, options?: DeleteOptions): void;
  evict(pod: Name, precondition?: Precondition, options?: DeleteOptions): void;
  /** Every change of a kind, in order. */
  changesOf(resource: Resource): readonly LoggedChange[];
  /** Returns a function that stops it. */
  onChange(listener: (change: LoggedChange) => void): () => void;
}

export function createMemoryApi(now: () => number): MemoryApi {
  const kinds = new Map<string, Map<string, Stored<KubeObject>>>();
  const logs = new Map<string, LoggedChange[]>();
  const listeners = new Set<(change: LoggedChange) => void>();
  let version = 1000;
  let uids = 0;

  function getObjects<T extends KubeObject>(resource: Resource<T>): Map<string, Stored<T>> {
    const id = resourceId(resource);
    const there = kinds.get(id) ?? new Map<string, Stored<KubeObject>>();
    kinds.set(id, there);
    return there as Map<string, Stored<T>>;
  }

  function getChanges(resource: Resource): LoggedChange[] {
    const id = resourceId(resource);
    const changes = logs.get(id) ?? [];
    logs.set(id, changes);
    return changes;
  }

  function timestamp(inSeconds = 0): string {
    return new Date(now() + inSeconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
  }

  function store<T extends KubeObject>(
    resource: Resource<T>,
    next: T | Stored<T>,
    type: LoggedChange['type'],
  ): Stored<T> {
    version += 1;
    const objects = getObjects(resource);
    const object = freeze({ ...next, metadata: { ...next.metadata, resourceVersion: String(version) } } as Stored<T>);
    const key = keyOf(object);
    const change: LoggedChange = { resource, type, object, old: objects.get(key) };
    if (type === 'DELETED') objects.delete(key);
    else objects.set(key, object);
    getChanges(resource).push(change);
    for (const listener of listeners) listener(change);
    return object;
  }

  function existing<T extends KubeObject>(resource: Resource<T>, name: Name, precondition: Precondition): Stored<T> {
    const found = getObjects(resource).get(keyOf({ metadata: name }));
    if (found === undefined) throw new KubeError('SLW_KUBE_NOT_FOUND', `${resource.kind} ${name.name} not found`);
    const { uid, resourceVersion } = found.metadata;
    const isOther =
      (precondition.uid ?? uid) !== uid || (precondition.resourceVersion ?? resourceVersion) !== resourceVersion;
    if (!isOther) return found;
    throw new KubeError('SLW_KUBE_CONFLICT', `${resource.kind} ${name.name} is another one, or has changed`);
  }

  function applyPatch<T extends KubeObject>(old: Stored<T>, patch: Patch): Stored<T> {
    const patched = patch.type === 'json' ? jsonPatch(old, patch.body) : mergePatch(old, patch.body);
    if (patched === undefined) throw new KubeError('SLW_KUBE_INVALID', 'the JSON patch does not fit the object');
    const { metadata, ...rest } = patched as Stored<T>;
    const { name, uid, resourceVersion } = old.metadata;
    return { ...rest, metadata: { ...metadata, name, uid, resourceVersion } } as Stored<T>;
  }

  const findBlockingBudgets = (pod: KubeObject): Stored<PodDisruptionBudget>[] =>
    [...getObjects(podDisruptionBudgets).values()].filter((budget) => isHeldByBudgets(pod) && isBlocking(budget, pod));

  const api: MemoryApi = {
    changesOf: getChanges,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    find: (resource, name) => getObjects(resource).get(keyOf({ metadata: name })),
    get: (resource, name) => existing(resource, name, {}),
    list: (resource) => [...getObjects(resource).values()],
    create(resource, object) {
      const { name } = object.metadata;
      if (getObjects(resource).has(keyOf(object))) {
        throw new KubeError('SLW_KUBE_ALREADY_EXISTS', `${resource.kind} ${name} exists already`);
      }
      uids += 1;
      const uid = `00000000-0000-4000-8000-${uids.toString(16).padStart(12, '0')}`;
      const identity = { apiVersion: formatApiVersion(resource), kind: resource.kind };
      const metadata = { ...object.metadata, uid, creationTimestamp: timestamp() };
      return store(resource, startsAs(resource, { ...object, ...identity, metadata }), 'ADDED');
    },
    patch(resource, name, patch, precondition = {}, subresource = '') {
      const old = existing(resource, name, precondition);
      const next = keepsItsRules(resource, old, applyPatch(old, patch), subresource);
      if (isDeepStrictEqual(next, old)) return old;
      const isGone = next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0;
      const waitedForThat = (old.metadata.finalizers ?? []).length > 0;
      return store(resource, next, isGone && waitedForThat ? 'DELETED' : 'MODIFIED');
    },
    delete(resource, name, precondition = {}, options = {}) {
      const old = existing(resource, name, precondition);
      const grace = computeGraceSeconds(resource, old, options);
      const waits = (old.metadata.finalizers ?? []).length > 0 || grace > 0;
      if (!waits) store(resource, old, 'DELETED');
      else if (old.metadata.deletionTimestamp === undefined) {
        const { generation, ...metadata } = old.metadata;
        const going = { deletionTimestamp: timestamp(grace), deletionGracePeriodSeconds: grace };
        const counted = generation === undefined ? {} : { generation: generation + 1 };
        store(resource, { ...old, metadata: { ...metadata, ...counted, ...going } }, 'MODIFIED');
      }
    },
    evict(name, precondition = {}, options = {}) {
      // As in the real one: the budget is checked and charged before the precondition on the pod.
      const pod = existing(pods, name, {});
      if (pod.metadata.deletionTimestamp !== undefined) return;
      const [budget] = findBlockingBudgets(pod);
      if (budget !== undefined) {
        const disruptionsAllowed = budget.status?.disruptionsAllowed ?? 0;
        if (disruptionsAllowed === 0) {
          const text = `pod ${name.name}: the budget ${budget.metadata.name} allows no disruption now`;
          throw new KubeError('SLW_KUBE_BLOCKED', text, { status: 429, retryAfterMs: 10_000 });
        }
        const status = { ...budget.status, disruptionsAllowed: disruptionsAllowed - 1 };
        store(podDisruptionBudgets, { ...budget, status }, 'MODIFIED');
      }
      api.delete(pods, name, precondition, options);
    },
  };
  return api;
}

/** The grace period in seconds of a pod on a node; others have none. */
function computeGraceSeconds(resource: Resource, object: KubeObject, { gracePeriodSeconds }: DeleteOptions): number {
  if (resource.plural !== pods.plural) return 0;
  const { spec } = object as { spec?: { nodeName?: string; terminationGracePeriodSeconds?: number } };
  if (spec?.nodeName === undefined) return 0;
  return gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 30;
}

/** A caller that mutates an object fails immediately. Parts shared with an earlier version are already frozen. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
