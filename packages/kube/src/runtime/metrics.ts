import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What a controller is doing; the state `running` is the leader's. */
export type ControllerState = 'off' | 'standby' | 'syncing' | 'running';
const controllerStates: readonly ControllerState[] = ['off', 'standby', 'syncing', 'running'];

/** `error`: the world failed; `bug`: our code did; `conflict`: somebody was faster, the run is repeated. */
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
  /** The depth is asked for when somebody reads the metrics; returns the way to stop that. */
  observeQueue(controller: string, depth: () => number): () => void;
}

/** One registry a process, never the library's global one: tests and several managers in a process stay apart. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const queues = new Map<string, () => number>();

  // The name and labels that dashboards for these fleets already ask for; `object` is kept for them, and empty.
  const state = new Gauge({
    name: 'mcc_sub_controller_state',
    help: 'What a controller is doing: 1 on the state it is in.',
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
    help: 'Keys that are ready and wait for a worker.',
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
      help: 'How long a reconcile took, by what it came to.',
      labelNames: ['controller', 'result'],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
      registers,
    }),
    reconcileErrors: new Counter({
      name: 'slipway_reconcile_errors_total',
      help: 'Reconciles that failed, by error code; code BUG is a defect of ours.',
      labelNames: ['controller', 'code'],
      registers,
    }),
    retries: new Counter({
      name: 'slipway_reconcile_retries_total',
      help: 'Runs that were put back to be tried again later.',
      labelNames: ['controller'],
      registers,
    }),
    queueWaitSeconds: new Histogram({
      name: 'slipway_queue_wait_seconds',
      help: 'How long a ready key waited for a worker.',
      labelNames: ['controller'],
      buckets: [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
      registers,
    }),
    watchRestarts: new Counter({
      name: 'slipway_watch_restarts_total',
      help: 'Watches that ended abnormally and were opened again.',
      labelNames: ['resource', 'code'],
      registers,
    }),
    events: new Counter({
      name: 'slipway_events_total',
      help: 'Events recorded: written, counted into an earlier one, dropped or failed.',
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
  };
}
