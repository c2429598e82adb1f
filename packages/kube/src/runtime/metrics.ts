import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The state of a controller; only the leader's is `running`. */
export type ControllerState = 'off' | 'standby' | 'syncing' | 'running';
const controllerStates: readonly ControllerState[] = ['off', 'standby', 'syncing', 'running'];

/** `error`: the environment failed; `bug`: this code did; `conflict`: another client was faster, the run repeats. */
export type ReconcileResult = 'done' | 'again' | 'conflict' | 'error' | 'bug' | 'timeout' | 'stopped';

export interface Metrics {
  readonly registry: Registry;
  readonly reconcileSeconds: Histogram<'controller' | 'result'>;
  readonly reconcileErrors: Counter<'controller' | 'code'>;
  readonly retries: Counter<'controller'>;
  readonly queueWaitSeconds: Histogram<'controller'>;
  readonly watchRestarts: Counter<'resource' | 'code'>;
  readonly events: Counter<'result'>;
  setControllerState(controller: string, state: ControllerState): void;
  setLeader(lease: string, held: boolean): void;
  /** The depth is read at every scrape; returns a function that unregisters it. */
  observeQueue(controller: string, depth: () => number): () => void;
  /** Whether a watch is open is read at every scrape; returns a function that unregisters it. */
  observeWatch(resource: string, isOpen: () => boolean): () => void;
}

/** One registry per process, never the library's global one: tests and several managers in a process stay separate. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const queues = new Map<string, () => number>();

  // The name and labels that existing dashboards for these fleets query; `object` is there for them, and empty.
  const state = new Gauge({
    name: 'mcc_sub_controller_state',
    help: 'State of a controller: 1 for the current state.',
    labelNames: ['subcontroller', 'state', 'object'],
    registers,
  });
  const leader = new Gauge({
    name: 'slipway_leader',
    help: '1 while this process holds the lease.',
    labelNames: ['lease'],
    registers,
  });
  const depths = new Gauge({
    name: 'slipway_queue_depth',
    help: 'Ready keys that wait for a worker.',
    labelNames: ['controller'],
    registers: [],
    collect() {
      this.reset();
      for (const [controller, depth] of queues) this.set({ controller }, depth());
    },
  });

  registry.registerMetric(depths);

  return {
    registry,
    reconcileSeconds: new Histogram({
      name: 'slipway_reconcile_duration_seconds',
      help: 'Duration of a reconcile, by result.',
      labelNames: ['controller', 'result'],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
      registers,
    }),
    reconcileErrors: new Counter({
      name: 'slipway_reconcile_errors_total',
      help: 'Reconciles that failed, by error code; code BUG is a defect in Slipway.',
      labelNames: ['controller', 'code'],
      registers,
    }),
    retries: new Counter({
      name: 'slipway_reconcile_retries_total',
      help: 'Reconciles that were requeued with backoff.',
      labelNames: ['controller'],
      registers,
    }),
    queueWaitSeconds: new Histogram({
      name: 'slipway_queue_wait_seconds',
      help: 'Time that a ready key waited for a worker.',
      labelNames: ['controller'],
      buckets: [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
      registers,
    }),
    watchRestarts: new Counter({
      name: 'slipway_watch_restarts_total',
      help: 'Watches that failed and were reopened.',
      labelNames: ['resource', 'code'],
      registers,
    }),
    events: new Counter({
      name: 'slipway_events_total',
      help: 'Recorded events, by result: written, counted into an earlier event, dropped or failed.',
      labelNames: ['result'],
      registers,
    }),
    setControllerState(subcontroller, current) {
      for (const each of controllerStates) {
        state.set({ subcontroller, state: each, object: '' }, each === current ? 1 : 0);
      }
    },
    setLeader: (lease, held) => leader.set({ lease }, held ? 1 : 0),
    observeQueue(controller, depth) {
      queues.set(controller, depth);
      return () => {
        if (queues.get(controller) === depth) queues.delete(controller);
      };
    },
    observeWatch: observeWatches(registry),
  };
}

function observeWatches(registry: Registry): Metrics['observeWatch'] {
  const watches = new Set<{ readonly resource: string; readonly isOpen: () => boolean }>();
  const open = new Gauge({
    name: 'slipway_watch_open',
    help: '1 while the API server sends the changes of this kind, 0 while it cannot be reached or refuses.',
    labelNames: ['resource'],
    registers: [],
    collect() {
      this.reset();
      const down = new Set([...watches].filter(({ isOpen }) => !isOpen()).map(({ resource }) => resource));
      for (const { resource } of watches) this.set({ resource }, down.has(resource) ? 0 : 1);
    },
  });
  registry.registerMetric(open);
  return (resource, isOpen) => {
    const watch = { resource, isOpen };
    watches.add(watch);
    return () => void watches.delete(watch);
  };
}
