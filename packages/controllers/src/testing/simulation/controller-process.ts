// A process with controllers, from its start until it is killed: the real definitions on an API in memory, in virtual time.
// What its views show is behind, what it writes takes time, and it can die at any write, before or after it has landed.
import {
  type Change,
  type ControllerDef,
  createWriter,
  isKubeError,
  type Key,
  keyOf,
  KubeError,
  type KubeObject,
  type Read,
  type Recorder,
  type Resource,
  resourceId,
  silentLog,
  type Store,
  type Stored,
  type WriteAttempt,
  type WriteGuard,
} from '@slipway/kube';
import type { MemoryApi } from './memory-api.ts';
import { createMemoryClient } from './memory-client.ts';
import type { Random } from './random.ts';
import { openView, type View } from './view.ts';
import { createVirtualQueue, type Outcome } from './virtual-queue.ts';
import type { VirtualTime } from './virtual-time.ts';
import { createWire, type Fate, never } from './wire.ts';

/** One reconcile, and what its views showed when it began: later they show more, never less. */
export interface Run {
  readonly controller: string;
  readonly key: Key;
  saw<T extends KubeObject>(resource: Resource<T>): ReadonlyMap<Key, Stored<T>>;
}

export interface ProcessOptions {
  readonly api: MemoryApi;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly controllers: readonly ControllerDef[];
  /** How long a view takes to show what has changed. */
  lagMs(this: void): number;
  latencyMs(this: void): number;
  fateOf(this: void, write: WriteAttempt): Fate;
  /** Has a write of a run carried out. */
  by<T>(this: void, run: Run, write: WriteAttempt, carryOut: () => T): T;
  /** It died at a write. */
  onDeath(this: void): void;
  /** A reconcile threw what no controller may throw. */
  onBug(this: void, run: Run, error: unknown): void;
}

export interface ControllerProcess {
  kill(): void;
}

export function startProcess(options: ProcessOptions): ControllerProcess {
  const life = new AbortController();
  for (const def of options.controllers) startController(def, options, life);
  return { kill: () => life.abort() };
}

function startController(def: ControllerDef, options: ProcessOptions, life: AbortController): void {
  const { api, time, random, latencyMs, fateOf } = options;
  const { signal } = life;
  const views = def.reads.map((source) => openView(api, source));
  const read: Read = (resource, which = {}) => storeOf(views, resource, which);
  const unsure = new Set<Key>();
  const queue = createVirtualQueue({ time, random, workers: def.workers ?? 1, handle });

  function die(): void {
    life.abort();
    options.onDeath();
  }

  async function handle(key: Key): Promise<Outcome> {
    if (signal.aborted) return never;
    const run = runOf(def.name, key, views);
    const wire = createWire({
      time,
      latencyMs,
      fateOf,
      by: (write, carryOut) => options.by(run, write, carryOut),
      isDead: () => signal.aborted,
      die,
    });
    const client = createMemoryClient(api, wire, [ownedBy(def)]);
    const now = (): Date => new Date(time.now());
    try {
      const write = createWriter(client, { fieldManager: `slipway-${def.name}` });
      const context = { read, client, write, events: silent, log, signal, unsure: unsure.has(key), now };
      const next = await def.reconcile(key, context);
      unsure.delete(key);
      return next;
    } catch (error) {
      return failed(run, error);
    }
  }

  function failed(run: Run, error: unknown): Outcome {
    if (isKubeError(error, 'SLW_KUBE_CONFLICT')) return { type: 'retry', atMostMs: 1000 };
    if (isKubeError(error, 'SLW_KUBE_OUTCOME_UNKNOWN')) unsure.add(run.key);
    const isExpected = error instanceof Error && 'code' in error && String(error.code).startsWith('SLW_');
    if (!isExpected || isKubeError(error, 'SLW_KUBE_NOT_OWNED')) options.onBug(run, error);
    return { type: 'retry' };
  }

  function enqueue({ source: { keysOf } }: View, objects: readonly Stored<KubeObject>[]): void {
    for (const object of objects) {
      for (const key of keysOf === undefined ? [keyOf(object)] : keysOf(object, read)) queue.add(key);
    }
  }

  for (const view of views) follow(view, options, signal, (change) => enqueue(view, objectsOf(change)));
  for (const view of views) enqueue(view, [...view.store.values()]);
  for (const key of def.startsWith ?? []) queue.add(key);
  const stopListening = def.listen?.((key) => queue.add(key));
  signal.addEventListener('abort', () => stopListening?.());
}

/** Has the view advance some time after a change, often over several at once and sometimes not to the last one. */
function follow(
  view: View,
  { api, time, random, lagMs }: ProcessOptions,
  dead: AbortSignal,
  tell: (change: Change<KubeObject>) => void,
): void {
  const id = resourceId(view.source.resource);
  let isWaiting = false;
  const wait = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    time.after(lagMs(), advance);
  };
  const advance = (): void => {
    isWaiting = false;
    if (dead.aborted) return;
    const steps = random.chance(0.8) ? view.behind : random.int(1, view.behind);
    for (let step = 0; step < steps; step += 1) for (const change of view.advance()) tell(change);
    if (view.behind > 0) wait();
  };
  const stop = api.onChange(({ resource }) => {
    if (dead.aborted) stop();
    else if (resourceId(resource) === id) wait();
  });
}

function runOf(controller: string, key: Key, views: readonly View[]): Run {
  const seen = new Map(views.map((view) => [resourceId(view.source.resource), view.seen()]));
  return {
    controller,
    key,
    saw<T extends KubeObject>(resource: Resource<T>) {
      const objects = seen.get(resourceId(resource));
      if (objects === undefined) throw new Error(`controller ${controller} does not read ${resourceId(resource)}`);
      return objects as ReadonlyMap<Key, unknown> as ReadonlyMap<Key, Stored<T>>;
    },
  };
}

function storeOf<T extends KubeObject>(
  views: readonly View[],
  resource: Resource<T>,
  which: { namespace?: string; as?: 'full' | 'metadata' },
): Store<T> {
  const [view, another] = views.filter(
    ({ source }) =>
      resourceId(source.resource) === resourceId(resource) &&
      (which.namespace === undefined || source.namespace === which.namespace) &&
      (which.as === undefined || (source.as ?? 'full') === which.as),
  );
  if (view === undefined || another !== undefined) throw new Error(`${resourceId(resource)}: expected one such source`);
  return view.store as Store<T>;
}

const ownedBy =
  ({ name, owns }: ControllerDef): WriteGuard =>
  ({ verb, resource, subresource }) => {
    const part = verb === 'evict' ? 'eviction' : subresource;
    const isOwned = owns.some((own) => resourceId(own.resource) === resourceId(resource) && own.subresource === part);
    if (!isOwned)
      throw new KubeError('SLW_KUBE_NOT_OWNED', `${name} may not ${verb} ${resourceId(resource)} ${part ?? ''}`);
  };

function objectsOf(change: Change<KubeObject>): readonly Stored<KubeObject>[] {
  if (change.type === 'updated') return [change.old, change.object];
  return [change.type === 'added' ? change.object : change.old];
}

const log = silentLog();
/** What people are told has no part in what happens. */
const silent: Recorder = { record: () => {}, flush: () => Promise.resolve() };
