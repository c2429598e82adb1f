import type { Client, WriteAttempt } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/errors.ts';
import { type Key, keyOf, type KubeObject, type Resource, resourceId, type Stored } from '../client/resource.ts';
import { createThrottle, createWriter } from '../client/writer.ts';
import type { Informer } from '../watch/informer.ts';
import type { Change, Store } from '../watch/store.ts';
import { type Clock, systemClock } from '@slipway/base/clock';
import type {
  Context,
  ControllerDef,
  Gates,
  Milliseconds,
  Next,
  StoreReader,
  Source,
  Which,
} from './controller-def.ts';
import type { Recorder } from './events.ts';
import type { Log } from './log.ts';
import type { Metrics, ReconcileResult } from './metrics.ts';
import { createOwnWrites, type OwnWrites } from './own-writes.ts';
import { createRunThrottle, createQueue, type RunOutcome } from './queue.ts';

export interface ControllerParts {
  client: Client;
  informerOf(this: void, source: Source): Informer<KubeObject>;
  events: Recorder;
  log: Log;
  metrics: Metrics;
  gates?: Gates | undefined;
  /** Pending writes of earlier controllers with the same definition and stores, if any. */
  ownWrites?: OwnWrites | undefined;
  clock?: Pick<Clock, 'now' | 'setTimer'> | undefined;
  /** Wall clock. */
  now?: (() => Date) | undefined;
  /** For the jitter of retries. */
  random?: (() => number) | undefined;
}

export interface Controller {
  /** Call once the informers have synced. */
  start(): void;
  /** Accepts no more keys and resolves when all runs have ended. Runs are aborted after `boundMs`. */
  stop(boundMs: number): Promise<void>;
  /** Stops immediately: no more keys, no more writes. */
  abort(reason: Error): void;
  /** Keys whose run was aborted a full time limit ago and still has not ended. */
  stuck(): Key[];
}

const DEFAULT_TIME_LIMIT_MS = 5 * 60_000;

export function createController(def: ControllerDef, parts: ControllerParts): Controller {
  const { metrics, events, clock = systemClock, now = () => new Date() } = parts;
  const { name: controller, timeLimitMs = DEFAULT_TIME_LIMIT_MS } = def;
  const log = parts.log.child({ controller });
  const read = createStoreReader(def, parts.informerOf);
  const runs = new Map<Key, { abort: AbortController; since: number; timedOut: boolean }>();
  const unsure = new Set<Key>();
  const ownWrites = parts.ownWrites ?? trackOwnWrites(def, parts);
  const runThrottle = createRunThrottle({
    settleMs: (key) => valueFor(def.settleMs, key, read),
    minIntervalMs: (key) => valueFor(def.minIntervalMs, key, read),
    clock,
  });
  const throttle = createThrottle(clock);
  /** Keys that wait for the stores to show their writes. */
  const held = new Set<Key>();
  const unsubscribe: (() => void)[] = [];
  let stopListening: (() => void) | undefined;
  const queue = createQueue({ workers: def.workers ?? 1, handle, clock, random: parts.random });

  async function handle(key: Key, waitedMs: number): Promise<RunOutcome> {
    const runLog = lazy(() => log.child({ key }));
    try {
      const hold = checkHold(key);
      if (hold !== undefined) return hold;
    } catch (error) {
      return settle(key, classifyError(error), 0, runLog);
    }
    metrics.queueWaitSeconds.observe({ controller }, waitedMs / 1000);
    const run: Run = { abort: new AbortController(), since: clock.now(), timedOut: false, againMs: Infinity };
    runs.set(key, run);
    const cancelLimit = clock.setTimer(timeLimitMs, () => {
      run.timedOut = true;
      runLog().error({ timeLimitMs }, 'reconcile exceeded its time limit; aborting it');
      run.abort.abort(new Error(`reconcile exceeded its time limit of ${timeLimitMs} ms`));
    });
    let verdict: Verdict;
    try {
      verdict = classifySuccess(await def.reconcile(key, createContext(key, run, runLog)), run.againMs);
    } catch (error) {
      verdict = classifyError(error);
    }
    cancelLimit();
    runs.delete(key);
    if (run.abort.signal.aborted) verdict = run.timedOut ? timedOut : stopped;
    return settle(key, verdict, (clock.now() - run.since) / 1000, runLog);
  }

  function checkHold(key: Key): RunOutcome | undefined {
    if (ownWrites.isBehind(key)) {
      held.add(key);
      return { type: 'held' };
    }
    const afterMs = runThrottle.start(key);
    return afterMs > 0 ? { type: 'held', afterMs } : undefined;
  }

  function release(): void {
    for (const key of held) {
      if (ownWrites.isBehind(key)) continue;
      held.delete(key);
      queue.add(key);
    }
  }

  function settle(key: Key, verdict: Verdict, seconds: number, runLog: () => Log): RunOutcome {
    if (verdict.unsure === true) unsure.add(key);
    else if (verdict.outcome.type !== 'retry') unsure.delete(key);
    metrics.reconcileSeconds.observe({ controller, result: verdict.result }, seconds);
    if (verdict.outcome.type === 'retry') metrics.retries.inc({ controller });
    if (verdict.code !== undefined) metrics.reconcileErrors.inc({ controller, code: verdict.code });
    if (verdict.level !== undefined) {
      const text = verdict.result === 'bug' ? 'reconcile crashed; this is a bug' : 'reconcile failed';
      runLog()[verdict.level]({ err: verdict.error }, `${text}; it will be retried`);
    }
    return verdict.outcome;
  }

  /** Most runs find nothing to do: what only writes and logs need is made for those. */
  function createContext(key: Key, run: Run, runLog: () => Log): Context {
    const { signal } = run.abort;
    const client = lazy(() =>
      parts.client.guarded((attempt) => {
        assertOwned(def, attempt);
        signal.throwIfAborted();
      }),
    );
    const write = lazy(() =>
      createWriter(client(), {
        fieldManager: def.fieldManager ?? `slipway-${def.name}`,
        onWrite: (landed) => ownWrites.add(key, landed),
        throttle,
        onThrottled: (waitMs) => (run.againMs = Math.min(run.againMs, waitMs)),
      }),
    );
    return {
      read,
      events,
      signal,
      unsure: unsure.has(key),
      now,
      get client() {
        return client();
      },
      get write() {
        return write();
      },
      get log() {
        return runLog();
      },
    };
  }

  function enqueueChange(source: Source, change: Change<KubeObject>): void {
    if (concerns(source, change)) enqueue(source, listObjects(change), 'change');
  }

  function concerns(source: Source, change: Change<KubeObject>): boolean {
    if (change.type !== 'updated' || source.concerns === undefined) return true;
    try {
      return source.concerns(change.old, change.object);
    } catch (error) {
      reportBug(error, change.object, 'concerns threw, so the update counts; this is a bug');
      return true;
    }
  }

  function reportBug(err: unknown, object: Stored<KubeObject>, text: string): void {
    metrics.reconcileErrors.inc({ controller, code: 'BUG' });
    log.error({ err, object: keyOf(object) }, text);
  }

  function enqueue(source: Source, objects: readonly Stored<KubeObject>[], why: 'start' | 'change' | 'gate'): void {
    const isThrottled = why === 'change' && def.settleMs !== undefined && source.settles !== false;
    for (const object of objects) {
      try {
        const keys = source.keysOf === undefined ? [keyOf(object)] : source.keysOf(object, read);
        for (const key of keys) {
          if (isThrottled) runThrottle.changed(key);
          queue.add(key, { resync: why === 'start' });
        }
      } catch (error) {
        reportBug(error, object, 'keysOf threw, so the change is ignored; this is a bug');
      }
    }
  }

  function enqueueAll(why: 'start' | 'gate'): void {
    for (const source of def.reads) enqueue(source, [...parts.informerOf(source).store.values()], why);
    for (const key of def.startsWith ?? []) queue.add(key);
  }

  async function end(): Promise<void> {
    for (const leave of unsubscribe.splice(0)) leave();
    await queue.stop();
    stopListening?.();
    stopListening = undefined;
  }

  return {
    start() {
      for (const source of def.reads) {
        const informer = parts.informerOf(source);
        unsubscribe.push(informer.onChange((change) => enqueueChange(source, change)));
      }
      // Existing objects are queued behind new changes.
      enqueueAll('start');
      unsubscribe.push(ownWrites.onSeen(release));
      if (parts.ownWrites === undefined) unsubscribe.push(ownWrites.close);
      unsubscribe.push(onGateChange(def, parts.gates, () => enqueueAll('gate')));
      stopListening = def.listen?.((key) => queue.add(key));
      unsubscribe.push(metrics.observeQueue(controller, () => queue.depth));
      queue.start();
    },
    async stop(boundMs) {
      const cancel = clock.setTimer(boundMs, () => {
        for (const { abort } of runs.values()) abort.abort(new Error('the process is stopping'));
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

interface Run {
  readonly abort: AbortController;
  readonly since: number;
  timedOut: boolean;
  /** Time until a skipped write may be repeated. */
  againMs: number;
}

function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const valueFor = (value: Milliseconds | undefined, key: Key, read: StoreReader): number =>
  typeof value === 'function' ? value(key, read) : (value ?? 0);

function trackOwnWrites(def: ControllerDef, { informerOf, log, clock = systemClock }: ControllerParts): OwnWrites {
  const informers = new Map(def.reads.map((source) => [source, informerOf(source)]));
  return createOwnWrites({
    informers,
    of: def.waitsForWritesOf ?? 'key',
    log: log.child({ controller: def.name }),
    clock,
  });
}

/** Subscribers are notified of every gate, including gates that no controller here uses. */
function onGateChange(
  { dependsOnGates = [] }: ControllerDef,
  gates: Gates | undefined,
  turned: () => void,
): () => void {
  if (gates === undefined || dependsOnGates.length === 0) return () => {};
  const states = (): string => dependsOnGates.map((gate) => String(gates.isOn(gate))).join();
  let before = states();
  return gates.onChange(() => {
    const now = states();
    if (now !== before) turned();
    before = now;
  });
}

/** The result of a run, and how to log and count it. */
export interface Verdict {
  result: ReconcileResult;
  outcome: RunOutcome;
  level?: 'debug' | 'warn' | 'error';
  code?: string;
  error?: unknown;
  /** Whether a write succeeded is unknown. */
  unsure?: boolean;
}

function classifySuccess(next: Next, againMs: number): Verdict {
  const afterMs = Math.min(againMs, next.type === 'again' ? next.afterMs : Infinity);
  return { result: next.type, outcome: afterMs === Infinity ? { type: 'done' } : { type: 'again', afterMs } };
}
const stopped: Verdict = { result: 'stopped', outcome: { type: 'retry' }, unsure: true };
const timedOut: Verdict = { result: 'timeout', outcome: { type: 'retry' }, code: 'TIMEOUT', unsure: true };
const ownBugs = ['SLW_KUBE_NOT_OWNED', 'SLW_KUBE_NO_PRECONDITION'] as const;

export function classifyError(error: unknown): Verdict {
  // Not `done`: the lease renewal may only be late, and then this process stays the leader.
  if (isKubeError(error, 'SLW_KUBE_NOT_LEADER')) {
    return { result: 'stopped', outcome: { type: 'retry' }, level: 'debug', error };
  }
  if (isKubeError(error, 'SLW_KUBE_CONFLICT')) {
    return { result: 'conflict', outcome: { type: 'retry', atMostMs: 1000 }, level: 'debug', error };
  }
  const code = readErrorCode(error);
  if (code === undefined || isKubeError(error, ...ownBugs)) {
    return { result: 'bug', outcome: { type: 'retry' }, level: 'error', code: 'BUG', error };
  }
  const atLeastMs = readRetryAfterMs(error);
  const unsure = code === 'SLW_KUBE_OUTCOME_UNKNOWN';
  return { result: 'error', outcome: { type: 'retry', atLeastMs }, level: 'warn', code, error, unsure };
}

/** Errors with an SLW_ code, from any package, are expected failures; anything else is a bug. */
function readErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code.startsWith('SLW_') ? error.code : undefined;
}

/** What the other side asked for: the API server, a registry, Ironic. */
function readRetryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined;
  return typeof error.retryAfterMs === 'number' ? error.retryAfterMs : undefined;
}

const sameResource = (a: Resource, b: Resource): boolean => resourceId(a) === resourceId(b);

function assertOwned(def: ControllerDef, { verb, resource, subresource, name }: WriteAttempt): void {
  const part = verb === 'evict' ? 'eviction' : subresource;
  if (def.owns.some((own) => sameResource(own.resource, resource) && own.subresource === part)) return;
  throw new KubeError(
    'SLW_KUBE_NOT_OWNED',
    `controller ${def.name} tried to ${verb} ${resource.kind} ${name.name}: ${resourceId(resource)}${part === undefined ? '' : `/${part}`} is not in its owns. Add it to owns, or let the owning controller write it`,
  );
}

function createStoreReader(def: ControllerDef, informerOf: ControllerParts['informerOf']): StoreReader {
  /** For reads that name only the resource: several for each change of a node. */
  const known = new Map<Resource, Source>();

  function find(resource: Resource, which: Which): Source {
    const found = def.reads.filter((source) => sameResource(source.resource, resource) && isThis(source, which));
    const [source] = found;
    if (source !== undefined && found.length === 1) return source;
    const place = which.namespace === undefined ? '' : ` in namespace ${which.namespace}`;
    const form = which.as === undefined ? '' : ` as ${which.as}`;
    throw new Error(
      `controller ${def.name} reads ${resourceId(resource)}${place}${form}: expected exactly one matching source in its reads, found ${found.length}`,
    );
  }

  return <T extends KubeObject>(resource: Resource<T>, which?: Which): Store<T> => {
    const source = (which === undefined && known.get(resource)) || find(resource, which ?? {});
    if (which === undefined) known.set(resource, source);
    return informerOf(source).store as Store<T>;
  };
}

const isThis = (source: Source, { namespace, as }: Which): boolean =>
  (namespace === undefined || source.namespace === namespace) && (as === undefined || (source.as ?? 'full') === as);

function listObjects(change: Change<KubeObject>): readonly Stored<KubeObject>[] {
  if (change.type === 'updated') return [change.old, change.object];
  return [change.type === 'added' ? change.object : change.old];
}
