import type { Client, WriteAttempt } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/errors.ts';
import { type Key, keyOf, type KubeObject, type Resource, resourceId, type Stored } from '../client/resource.ts';
import type { Informer } from '../watch/informer.ts';
import type { Change, Store } from '../watch/store.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Recorder } from './events.ts';
import type { Log } from './log.ts';
import type { Metrics, ReconcileResult } from './metrics.ts';
import { createQueue, type Outcome } from './queue.ts';

/** The store of a declared read; `which` tells two reads of one resource apart. */
export type Read = <T extends KubeObject>(resource: Resource<T>, which?: Which) => Store<T>;

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
  keysOf?(this: void, object: Stored<T>, read: Read): readonly Key[];
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
  readonly read: Read;
  /** Refuses writes outside `owns`, and every write once `signal` is aborted. Its reads are live. */
  readonly client: Client;
  readonly events: Recorder;
  readonly log: Log;
  /** Aborted at the time limit, when the process stops, and when leadership is lost. */
  readonly signal: AbortSignal;
  /** The last run of this key does not know whether its write landed: read live, the stores may be behind. */
  readonly unsure: boolean;
  now(this: void): Date;
}

export interface ControllerDef {
  readonly name: string;
  readonly reads: readonly Source[];
  readonly owns: readonly Owned[];
  readonly workers?: number;
  /** Keys that are reconciled at every start, also where nothing exists yet that would lead to them. */
  readonly startsWith?: readonly Key[];
  /** For what happens outside of the cluster: `wake` has a key reconciled. Returns the way to stop listening. */
  listen?(this: void, wake: (key: Key) => void): () => void;
  /** The feature gate that must be on for this controller to run. */
  readonly gate?: string;
  readonly timeLimitMs?: number;
  reconcile(this: void, key: Key, context: Context): Promise<Next>;
}

export interface ControllerParts {
  client: Client;
  informerOf(this: void, source: Source): Informer<KubeObject>;
  events: Recorder;
  log: Log;
  metrics: Metrics;
  clock?: Clock | undefined;
}

export interface Controller {
  /** Call when the informers have synced. */
  start(): void;
  /** Takes no more keys; resolves when all runs have ended. They are asked to after `boundMs`. */
  stop(boundMs: number): Promise<void>;
  /** At once: no more keys, no more writes. */
  abort(reason: Error): void;
  /** Keys whose run has been asked to end one whole time limit ago, and has not. */
  stuck(): Key[];
}

const defaultTimeLimitMs = 5 * 60_000;

export function createController(def: ControllerDef, parts: ControllerParts): Controller {
  const { metrics, events, clock = systemClock } = parts;
  const { name: controller, timeLimitMs = defaultTimeLimitMs } = def;
  const log = parts.log.child({ controller });
  const read = storesOf(def, parts.informerOf);
  const runs = new Map<Key, { abort: AbortController; since: number; timedOut: boolean }>();
  const unsure = new Set<Key>();
  const unsubscribe: (() => void)[] = [];
  const queue = createQueue({ workers: def.workers ?? 1, handle, clock });

  async function handle(key: Key, waitedMs: number): Promise<Outcome> {
    metrics.queueWaitSeconds.observe({ controller }, waitedMs / 1000);
    const run = { abort: new AbortController(), since: clock.now(), timedOut: false };
    runs.set(key, run);
    const runLog = log.child({ key });
    const cancelLimit = clock.setTimer(timeLimitMs, () => {
      run.timedOut = true;
      runLog.error({ timeLimitMs }, 'a reconcile takes longer than its time limit; it is asked to end');
      run.abort.abort(new Error(`the time limit of ${timeLimitMs} ms has passed`));
    });
    let verdict: Verdict;
    try {
      verdict = successOf(await def.reconcile(key, contextOf(key, run.abort.signal, runLog)));
    } catch (error) {
      verdict = verdictOf(error);
    }
    cancelLimit();
    runs.delete(key);
    if (run.abort.signal.aborted) verdict = run.timedOut ? timedOut : stopped;
    return settle(key, verdict, (clock.now() - run.since) / 1000, runLog);
  }

  function settle(key: Key, verdict: Verdict, seconds: number, runLog: Log): Outcome {
    if (verdict.unsure === true) unsure.add(key);
    else if (verdict.outcome.type !== 'retry') unsure.delete(key);
    metrics.reconcileSeconds.observe({ controller, result: verdict.result }, seconds);
    if (verdict.outcome.type === 'retry') metrics.retries.inc({ controller });
    if (verdict.code !== undefined) metrics.reconcileErrors.inc({ controller, code: verdict.code });
    if (verdict.level !== undefined) {
      const text = verdict.result === 'bug' ? 'a reconcile broke; this is a bug' : 'a reconcile failed';
      runLog[verdict.level]({ err: verdict.error }, `${text}; it is tried again later`);
    }
    return verdict.outcome;
  }

  function contextOf(key: Key, signal: AbortSignal, runLog: Log): Context {
    const client = parts.client.guarded((attempt) => {
      assertOwned(def, attempt);
      signal.throwIfAborted();
    });
    return { read, client, events, log: runLog, signal, unsure: unsure.has(key), now: () => new Date() };
  }

  function enqueue({ keysOf }: Source, objects: readonly Stored<KubeObject>[], resync: boolean): void {
    for (const object of objects) {
      try {
        const keys = keysOf === undefined ? [keyOf(object)] : keysOf(object, read);
        for (const key of keys) queue.add(key, { resync });
      } catch (error) {
        metrics.reconcileErrors.inc({ controller, code: 'BUG' });
        log.error({ err: error, object: keyOf(object) }, 'keysOf broke: the change is not seen; this is a bug');
      }
    }
  }

  function end(): Promise<void> {
    for (const stopListening of unsubscribe.splice(0)) stopListening();
    return queue.stop();
  }

  return {
    start() {
      for (const source of def.reads) {
        const informer = parts.informerOf(source);
        unsubscribe.push(informer.onChange((change) => enqueue(source, objectsOf(change), false)));
        // What was there before goes behind what changes now.
        for (const object of informer.store.values()) enqueue(source, [object], true);
      }
      for (const key of def.startsWith ?? []) queue.add(key);
      if (def.listen !== undefined) unsubscribe.push(def.listen((key) => queue.add(key)));
      unsubscribe.push(metrics.observeQueue(controller, () => queue.depth));
      queue.start();
    },
    async stop(boundMs) {
      const cancel = clock.setTimer(boundMs, () => {
        for (const { abort } of runs.values()) abort.abort(new Error('the process stops'));
      });
      await end();
      cancel();
    },
    abort(reason) {
      void end();
      for (const { abort } of runs.values()) abort.abort(reason);
    },
    stuck: () => [...runs].filter(([, { since }]) => clock.now() - since > 2 * timeLimitMs).map(([key]) => key),
  };
}

/** What a run came to, and who has to hear of it. */
export interface Verdict {
  result: ReconcileResult;
  outcome: Outcome;
  level?: 'debug' | 'warn' | 'error';
  code?: string;
  error?: unknown;
  /** A write may have landed, or not. */
  unsure?: boolean;
}

const successOf = (next: Next): Verdict => ({ result: next.type, outcome: next });
const stopped: Verdict = { result: 'stopped', outcome: { type: 'retry' }, unsure: true };
const timedOut: Verdict = { result: 'timeout', outcome: { type: 'retry' }, code: 'TIMEOUT', unsure: true };
const ownBugs = ['SLW_KUBE_NOT_OWNED', 'SLW_KUBE_NO_PRECONDITION'] as const;

export function verdictOf(error: unknown): Verdict {
  // Not `done`: the lease may only be late, and then this process goes on.
  if (isKubeError(error, 'SLW_KUBE_NOT_LEADER')) {
    return { result: 'stopped', outcome: { type: 'retry' }, level: 'debug', error };
  }
  if (isKubeError(error, 'SLW_KUBE_CONFLICT')) {
    return { result: 'conflict', outcome: { type: 'retry', atMostMs: 1000 }, level: 'debug', error };
  }
  const code = codeOf(error);
  if (code === undefined || isKubeError(error, ...ownBugs)) {
    return { result: 'bug', outcome: { type: 'retry' }, level: 'error', code: 'BUG', error };
  }
  const atLeastMs = error instanceof KubeError ? error.retryAfterMs : undefined;
  const unsure = code === 'SLW_KUBE_OUTCOME_UNKNOWN';
  return { result: 'error', outcome: { type: 'retry', atLeastMs }, level: 'warn', code, error, unsure };
}

/** Errors with a code of ours, of whatever package, are expected failures; anything else is a bug. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code.startsWith('SLW_') ? error.code : undefined;
}

const sameResource = (a: Resource, b: Resource): boolean => resourceId(a) === resourceId(b);

function assertOwned(def: ControllerDef, { verb, resource, subresource, name }: WriteAttempt): void {
  const part = verb === 'evict' ? 'eviction' : subresource;
  if (def.owns.some((own) => sameResource(own.resource, resource) && own.subresource === part)) return;
  throw new KubeError(
    'SLW_KUBE_NOT_OWNED',
    `controller ${def.name} tried to ${verb} ${resource.kind} ${name.name}: ${resourceId(resource)}${part === undefined ? '' : `/${part}`} is not in its owns. Declare it there, or leave the write to its owner`,
  );
}

function storesOf(def: ControllerDef, informerOf: ControllerParts['informerOf']): Read {
  return <T extends KubeObject>(resource: Resource<T>, which: Which = {}): Store<T> => {
    const found = def.reads.filter((source) => sameResource(source.resource, resource) && isThis(source, which));
    const [source] = found;
    if (source !== undefined && found.length === 1) return informerOf(source).store as Store<T>;
    const place = which.namespace === undefined ? '' : ` in namespace ${which.namespace}`;
    const form = which.as === undefined ? '' : ` as ${which.as}`;
    throw new Error(
      `controller ${def.name} reads ${resourceId(resource)}${place}${form}: expected one such source in its reads, found ${found.length}`,
    );
  };
}

const isThis = (source: Source, { namespace, as }: Which): boolean =>
  (namespace === undefined || source.namespace === namespace) && (as === undefined || (source.as ?? 'full') === as);

function objectsOf(change: Change<KubeObject>): readonly Stored<KubeObject>[] {
  if (change.type === 'updated') return [change.old, change.object];
  return [change.type === 'added' ? change.object : change.old];
}
