// A process with controllers, from its start until it is killed: the real definitions in the real runtime, on an API in
// memory, in virtual time. Its views lag, its writes take time, and it can die at any write, before or after it lands.
import {
  type Change,
  type Client,
  type Context,
  type ControllerDef,
  createController,
  createMetrics,
  type Informer,
  isKubeError,
  type Key,
  type KubeObject,
  type Next,
  type Recorder,
  type Resource,
  resourceId,
  silentLog,
  type Stored,
  type WriteAttempt,
  type WriteGuard,
} from '@slipway/kube';
import { createRandom, type Random } from '@slipway/testing/random';
import type { MemoryApi } from './memory-api.ts';
import { createMemoryClient } from './memory-client.ts';
import { openView, type View } from './view.ts';
import type { VirtualTime } from './virtual-time.ts';
import { createWire, type Fate } from './wire.ts';

/** One reconcile, and what its views showed at its start: later they show more, never less. */
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
  /** How long a view takes to show a change. */
  lagMs(this: void): number;
  latencyMs(this: void): number;
  /** Events do not affect the simulation. */
  readonly recordEvent?: Recorder['record'];
  fateOf(this: void, write: WriteAttempt): Fate;
  /** Executes a write of a run. */
  by<T>(this: void, run: Run, write: WriteAttempt, carryOut: () => T): T;
  /** The process died at a write. */
  onDeath(this: void): void;
  /** A reconcile threw an error that no controller may throw. */
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

/** A process without disturbances: every write lands unless `by` refuses it. */
export const startCalmProcess = (
  options: Pick<ProcessOptions, 'api' | 'time' | 'controllers'> & Partial<Pick<ProcessOptions, 'by'>>,
): ControllerProcess =>
  startProcess({
    random: createRandom(1),
    lagMs: () => 10,
    latencyMs: () => 1,
    fateOf: () => 'lands',
    by: (_run, _write, carryOut) => carryOut(),
    onDeath() {},
    onBug(_run, error) {
      throw error;
    },
    ...options,
  });

function startController(def: ControllerDef, options: ProcessOptions, life: AbortController): void {
  const { api, time, random } = options;
  const views = new Map(def.reads.map((source) => [source, openView(api, source)]));
  const informers = new Map([...views].map(([source, view]) => [source, followed(view, options, life.signal)]));
  const client = clientOfRuns(options, life);

  async function reconcile(key: Key, context: Context): Promise<Next> {
    const way = client.wayOf(context.client);
    // Random, because nothing may depend on which of the ready keys runs first.
    await new Promise<void>((resolve) => void time.after(random.int(0, 5), resolve));
    const run = createRun(def.name, key, [...views.values()]);
    way.run = run;
    try {
      return await def.reconcile(key, context);
    } catch (error) {
      if (!isExpected(error)) options.onBug(run, error);
      throw error;
    }
  }

  const controller = createController(
    { ...def, reconcile },
    {
      client: client.client,
      informerOf: (source) => {
        const informer = informers.get(source);
        if (informer === undefined) throw new Error(`controller ${def.name} has no such source`);
        return informer;
      },
      events: { record: options.recordEvent ?? (() => {}), flush: () => Promise.resolve() },
      log,
      metrics,
      clock: { now: time.now, setTimer: (ms, fire) => time.after(ms, fire) },
      now: () => new Date(time.now()),
      random: random.next,
    },
  );
  controller.start();
  life.signal.addEventListener('abort', () => controller.abort(new Error('the process was killed')));
}

interface Way {
  run: Run | undefined;
}

/** Each run has a separate wire, so that every write is attributed to its run. */
function clientOfRuns({ api, time, latencyMs, fateOf, by, onDeath }: ProcessOptions, life: AbortController) {
  const ways = new WeakMap<Client, Way>();

  function die(): void {
    life.abort();
    onDeath();
  }

  function guarded(guard: WriteGuard): Client {
    const mine: Way = { run: undefined };
    const wire = createWire({
      time,
      latencyMs,
      fateOf,
      by(write, carryOut) {
        if (mine.run === undefined) throw new Error('a write outside of a run');
        return by(mine.run, write, carryOut);
      },
      isDead: () => life.signal.aborted,
      die,
    });
    const made = createMemoryClient(api, wire, [guard]);
    ways.set(made, mine);
    return made;
  }

  return {
    client: { ...createMemoryClient(api), guarded },
    wayOf(own: Client): Way {
      const way = ways.get(own);
      if (way === undefined) throw new Error('not the client of a run');
      return way;
    },
  };
}

function isExpected(error: unknown): boolean {
  if (isKubeError(error, 'SLW_KUBE_NOT_OWNED')) return false;
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SLW_');
}

/** As in the informer: a watch that delivers nothing for longer is broken. */
const SILENCE_MS = 150_000;

/** A view as an informer: advances some time after a change, often over several, and sometimes not to the last one. */
function followed(view: View, { api, time, random, lagMs }: ProcessOptions, dead: AbortSignal): Informer<KubeObject> {
  const id = resourceId(view.source.resource);
  const listeners = new Set<(change: Change<KubeObject>) => void>();
  const followers = new Set<(key: Key | undefined) => void>();
  let isWaiting = false;
  let behindSince: number | null = null;
  const wait = (): void => {
    behindSince ??= time.now();
    if (isWaiting) return;
    isWaiting = true;
    time.after(lagMs(), advance);
  };
  const advance = (): void => {
    isWaiting = false;
    if (dead.aborted) return;
    const steps = random.chance(0.8) ? view.behind : random.int(1, view.behind);
    for (let step = 0; step < steps; step += 1) {
      for (const change of view.advance()) for (const listener of listeners) listener(change);
      for (const follower of followers) follower(undefined);
    }
    if (view.behind > 0) wait();
    else behindSince = null;
  };
  const stop = api.onChange(({ resource }) => {
    if (dead.aborted) stop();
    else if (resourceId(resource) === id) wait();
  });
  return {
    resource: view.source.resource,
    store: view.store,
    synced: Promise.resolve(),
    get problem() {
      const isSilent = behindSince !== null && time.now() - behindSince > SILENCE_MS;
      return isSilent ? new Error('the watch is silent') : undefined;
    },
    downSince: undefined,
    get version() {
      return view.version;
    },
    start() {},
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onProgress(follower) {
      followers.add(follower);
      return () => followers.delete(follower);
    },
  };
}

function createRun(controller: string, key: Key, views: readonly View[]): Run {
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

const log = silentLog();
const metrics = createMetrics();
