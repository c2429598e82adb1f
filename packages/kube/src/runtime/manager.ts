import type { Client } from '../client/client.ts';
import { KubeError } from '../client/errors.ts';
import { type KubeObject, resourceId } from '../client/resource.ts';
import type { Informer } from '../watch/informer.ts';
import { systemClock } from '@slipway/base/clock';
import { type Controller, createController } from './controller.ts';
import { type ControllerDef, done, type Gate, type Gates, type Source } from './controller-def.ts';
import type { Recorder } from './events.ts';
import { createInformerPool } from './informer-pool.ts';
import { createElection, type ElectionOptions, fence, type Leadership } from './leader.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { createOwnWrites, type OwnWrites } from './own-writes.ts';
import type { Health } from './probes.ts';

export interface ManagerOptions {
  client: Client;
  controllers: readonly ControllerDef[];
  events: Recorder;
  log: Log;
  metrics: Metrics;
  /** Without gates, a controller with a gate is off. */
  gates?: Gates | undefined;
  /** Without an election, this process is always active: for programs that run once per node. */
  election?: Omit<ElectionOptions, 'log'> | undefined;
  /** How long running reconciles may take to end when the process stops. */
  stopBoundMs?: number | undefined;
  /**
   * For programs of which a fleet runs thousands: after an end of watches that it did not choose, each waits a random
   * time up to this before it reconnects. By default none, so that a single controller loses no time.
   */
  reconnectSpreadMs?: number | undefined;
}

export interface Manager {
  start(): void;
  /** Stops accepting keys, lets running reconciles end, writes the last events, releases the lease, closes watches. */
  stop(): Promise<void>;
  /** Every source has been read once and is still followed. A standby is ready too. */
  ready(this: void): Health;
  /**
   * Whether to restart this process. Not because the API server cannot be reached: a restart changes nothing then, and
   * a fleet that restarts together makes it worse.
   */
  live(this: void): Health;
  readonly leadership: Leadership | undefined;
}

interface WatchedSources {
  informers: ReadonlyMap<Source, Informer<KubeObject>>;
  isSynced: boolean;
  /** Outlives the controller: after a brief loss of leadership the stores may still lag behind its writes. */
  ownWrites: OwnWrites;
}

/** `cleaning`: the gate is off, and the controller removes what it wrote. */
type ControllerWork = 'running' | 'cleaning' | 'none';

interface Entry {
  def: ControllerDef;
  controller: Controller | undefined;
  /** The controller's current job. */
  work: ControllerWork;
  /** The controller was aborted: it must end, even if leadership has returned meanwhile. */
  aborted: boolean;
  watching: WatchedSources | undefined;
  /** Aborted when something has changed: the awaited state may no longer be desired. */
  outdated: AbortController;
  steps: Promise<void>;
}

export function createManager(options: ManagerOptions): Manager {
  const { log, metrics, gates, stopBoundMs = 20_000 } = options;
  const election = options.election === undefined ? undefined : createElection({ ...options.election, log });
  const client = election === undefined ? options.client : fence(options.client, election);
  const informers = createInformerPool(options);
  const entries = options.controllers.map((def): Entry => ({
    def,
    controller: undefined,
    work: 'none',
    aborted: false,
    watching: undefined,
    outdated: new AbortController(),
    steps: Promise.resolve(),
  }));
  let unsubscribe: (() => void) | undefined;
  let state: 'new' | 'started' | 'stopping' = 'new';

  const isOn = ({ gate }: ControllerDef): boolean => {
    if (gate === undefined) return true;
    return gates?.isOn(typeof gate === 'string' ? gate : gate.name) === true;
  };
  const leads = (): boolean => election === undefined || election.held;

  function workFor({ def }: Entry): ControllerWork {
    if (state !== 'started' || !leads()) return 'none';
    if (isOn(def)) return 'running';
    // Without gates it is unknown whether one was turned off.
    return gates !== undefined && typeof def.gate === 'object' ? 'cleaning' : 'none';
  }

  /** Steps of one controller run one after another, and a step for an outdated state is skipped. */
  function refresh(entry: Entry): void {
    entry.outdated.abort();
    entry.outdated = new AbortController();
    const { signal } = entry.outdated;
    entry.steps = entry.steps
      .then(() => settle(entry, signal))
      .catch((error: unknown) => {
        log.error(
          { err: error, controller: entry.def.name },
          'controller could not be started or stopped; this is a bug',
        );
      });
  }
  const refreshAll = (): void => entries.forEach(refresh);

  async function settle(entry: Entry, outdated: AbortSignal): Promise<void> {
    const isWanted = (): boolean => state === 'started' && isOn(entry.def);
    if (entry.aborted || entry.work !== workFor(entry)) await rest(entry);
    if (!isWanted()) unwatch(entry);
    const work = workFor(entry);
    if (work === 'running') await run(entry, outdated);
    else if (work === 'cleaning') cleanUp(entry);
    else if (isWanted()) void whenSynced(watch(entry));
    if (entry.work !== 'running') metrics.setControllerState(entry.def.name, isWanted() ? 'standby' : 'off');
  }

  function watch(entry: Entry): WatchedSources {
    entry.watching ??= startWatching(entry.def);
    return entry.watching;
  }

  function startWatching({ name, reads, waitsForWritesOf = 'key' }: ControllerDef): WatchedSources {
    const acquired = new Map(reads.map((source) => [source, informers.acquire(source)]));
    const ownWrites = createOwnWrites({
      informers: acquired,
      of: waitsForWritesOf,
      log: log.child({ controller: name }),
      clock: systemClock,
    });
    return { informers: acquired, isSynced: false, ownWrites };
  }

  function unwatch(entry: Entry): void {
    entry.watching?.ownWrites.close();
    for (const source of entry.watching?.informers.keys() ?? []) informers.release(source);
    entry.watching = undefined;
  }

  async function run(entry: Entry, outdated: AbortSignal): Promise<void> {
    if (entry.controller !== undefined) return;
    const { def } = entry;
    const watching = watch(entry);
    metrics.setControllerState(def.name, 'syncing');
    await orAborted(whenSynced(watching), outdated);
    if (outdated.aborted) return;
    entry.controller = createController(def, {
      ...options,
      client,
      ownWrites: watching.ownWrites,
      informerOf: (source) => {
        const informer = watching.informers.get(source);
        if (informer === undefined) throw new Error(`controller ${def.name} does not declare this source`);
        return informer;
      },
    });
    entry.controller.start();
    entry.work = 'running';
    metrics.setControllerState(def.name, 'running');
    log.info({ controller: def.name }, 'controller started');
  }

  function cleanUp(entry: Entry): void {
    const { def } = entry;
    if (entry.controller !== undefined || typeof def.gate !== 'object') return;
    entry.controller = createController(buildCleaner(def, def.gate), {
      ...options,
      client,
      informerOf: () => {
        throw new Error(`controller ${def.name} has no stores while its gate is off`);
      },
    });
    entry.controller.start();
    entry.work = 'cleaning';
    log.info({ controller: def.name, gate: def.gate.name }, 'gate is off; the controller removes what it wrote');
  }

  async function rest(entry: Entry): Promise<void> {
    if (entry.controller === undefined) return;
    // No new controller may start until the last run has ended: both could run the same key.
    await entry.controller.stop(stopBoundMs);
    entry.controller = undefined;
    entry.aborted = false;
    if (entry.work === 'running') log.info({ controller: entry.def.name }, 'controller stopped');
    entry.work = 'none';
  }

  function onLeadership(held: boolean): void {
    const { lease } = options.election ?? {};
    if (lease !== undefined) metrics.setLeader(`${lease.namespace}/${lease.name}`, held);
    const reason = new KubeError('SLW_KUBE_NOT_LEADER', 'leadership was lost during this reconcile');
    for (const entry of held ? [] : entries) {
      entry.controller?.abort(reason);
      entry.aborted = entry.controller !== undefined;
    }
    refreshAll();
  }

  return {
    leadership: election,
    start() {
      state = 'started';
      unsubscribe = gates?.onChange(refreshAll);
      election?.onChange(onLeadership);
      refreshAll();
      election?.start();
    },
    async stop() {
      state = 'stopping';
      unsubscribe?.();
      refreshAll();
      // Slightly longer than the bound: aborted runs need time to end.
      await orAborted(Promise.all(entries.map(({ steps }) => steps)), AbortSignal.timeout(stopBoundMs + 1000));
      await options.events.flush();
      await election?.stop();
      entries.forEach(unwatch);
      informers.close();
    },
    ready() {
      const waiting = entries.filter(({ def, watching }) => isOn(def) && watching?.isSynced !== true);
      const problems = waiting.map(({ def, watching }) => {
        const troubled = [...(watching?.informers.values() ?? [])].find(({ problem }) => problem !== undefined);
        const why = troubled === undefined ? '' : `: ${String(troubled.problem)}`;
        return `controller ${def.name} has not synced all its sources${why}`;
      });
      const synced = entries.flatMap(({ watching }) => (watching?.isSynced === true ? [watching] : []));
      const watches = new Set(synced.flatMap((watching) => Array.from(watching.informers.values())));
      problems.push(...listLostWatches(watches, performance.now()));
      return { ok: state === 'started' && problems.length === 0, problems };
    },
    live() {
      const problems = entries.flatMap(({ def, controller }) =>
        (controller?.stuck() ?? []).map((key) => `controller ${def.name}: the reconcile of ${key} is stuck`),
      );
      return { ok: problems.length === 0, problems };
    },
  };
}

/** An API server that restarts is back within this time, and so are its watches. */
const LOST_AFTER_MS = 5 * 60_000;

/** The watches that have been down for longer than a restart of the API server takes. */
export function listLostWatches(
  watches: Iterable<Pick<Informer<KubeObject>, 'resource' | 'problem' | 'downSince'>>,
  now: number,
): string[] {
  return [...watches].flatMap(({ resource, problem, downSince }) => {
    const downMs = downSince === undefined ? 0 : now - downSince;
    if (downMs < LOST_AFTER_MS) return [];
    return [`no changes of ${resourceId(resource)} for ${Math.floor(downMs / 60_000)} minutes: ${String(problem)}`];
  });
}

/** A controller with one key, done once the clean-up has succeeded. */
function buildCleaner(def: ControllerDef, { whenOff }: Gate): ControllerDef {
  return {
    name: def.name,
    ...(def.fieldManager !== undefined && { fieldManager: def.fieldManager }),
    ...(def.timeLimitMs !== undefined && { timeLimitMs: def.timeLimitMs }),
    reads: [],
    owns: def.owns,
    startsWith: ['off'],
    async reconcile(_, context) {
      await whenOff(context);
      return done();
    },
  };
}

async function whenSynced(watching: WatchedSources): Promise<void> {
  await Promise.all([...watching.informers.values()].map((informer) => informer.synced));
  watching.isSynced = true;
}

function orAborted(wanted: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => resolve();
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    wanted.then(end, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
