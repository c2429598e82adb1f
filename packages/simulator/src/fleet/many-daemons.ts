// The daemons of many machines in one process, with shared watches. Each has a separate machine, memory and identity,
// and behaves as it would alone.
import {
  createDirectoryWatcher,
  type DaemonMetrics,
  daemonSources,
  type DirectoryWatcher,
  type JoinedDaemon,
  type MachineDaemon,
  type MachineDaemonOptions,
  type NodeAccess,
  type PinMetrics,
  pinningSources,
  type PinClusterView,
  readPinClusterView,
  type ClusterView,
  readClusterView,
  startMachineDaemon,
} from '@slipway/daemon';
import type { Host } from '@slipway/daemon/host';
import { type ControllerDef, done, type Log, type Next } from '@slipway/kube';

export interface ManyDaemonsOptions extends Pick<MachineDaemonOptions, 'pinSpreadMs'> {
  readonly programVersion: string;
  readonly log: Log;
  /** With the credentials of the node. */
  accessOf(this: void, nodeName: string): NodeAccess;
  /**
   * False: changes on disks are found only by the full check every few minutes. For more machines than there are
   * inotify watches.
   */
  readonly watchesDisks: boolean;
  /** The maximum number of concurrent steps. */
  readonly workers?: number;
}

export interface StartedMachine {
  readonly nodeName: string;
  readonly host: Host;
  readonly root: string;
}

export interface ManyDaemons {
  /** One for configs, one for images, so that neither waits for the other. */
  readonly controllers: readonly ControllerDef[];
  /** Called when that machine boots. */
  start(machine: StartedMachine): Promise<void>;
  /** Called when that machine shuts down. Resolves when its current step has ended. */
  stop(nodeName: string): Promise<void>;
  stopAll(): Promise<void>;
}

/** Steps mostly wait for the API server, which commits concurrent writes together. */
const DEFAULT_WORKERS = 32;

export function createManyDaemons(options: ManyDaemonsOptions): ManyDaemons {
  const { programVersion, accessOf, watchesDisks, workers = DEFAULT_WORKERS, pinSpreadMs } = options;
  const running = new Map<string, RunningDaemon>();
  const [configs, pins] = [createWakeChannel(), createWakeChannel()];

  async function stop(nodeName: string): Promise<void> {
    const found = running.get(nodeName);
    running.delete(nodeName);
    await found?.stop();
  }

  return {
    controllers: [
      {
        name: 'daemons',
        ...daemonSources({ nodeNames: () => [...running.keys()] }),
        workers,
        listen: configs.listen,
        async reconcile(nodeName, { read, signal }) {
          const view = readClusterView(read, nodeName);
          // A machine that is down does nothing, and unknown machines are ignored.
          return view === null ? done() : (running.get(nodeName)?.step(view, signal) ?? done());
        },
      },
      {
        name: 'pinning',
        ...pinningSources('all'),
        workers,
        listen: pins.listen,
        async reconcile(nodeName, { read, signal }) {
          return running.get(nodeName)?.pin(readPinClusterView(read, nodeName), signal) ?? done();
        },
      },
    ],
    async start({ nodeName, host, root }) {
      await stop(nodeName);
      const watcher = watchesDisks ? createDirectoryWatcher({ root }) : noWatches;
      const log = options.log.child({ node: nodeName });
      const daemon = await startMachineDaemon({
        host,
        watcher,
        nodeName,
        programVersion,
        log,
        metrics: unmeasured,
        pinMetrics: unmeasuredPins,
        ...(pinSpreadMs !== undefined && { pinSpreadMs }),
      });
      const wakes = { step: () => configs.wake(nodeName), pin: () => pins.wake(nodeName) };
      running.set(nodeName, trackDaemon(daemon, daemon.join(accessOf(nodeName)), wakes));
      wakes.step();
      wakes.pin();
    },
    stop,
    async stopAll() {
      await Promise.all([...running.keys()].map(stop));
    },
  };
}

interface RunningDaemon {
  step(view: ClusterView, signal: AbortSignal): Promise<Next>;
  pin(view: PinClusterView, signal: AbortSignal): Promise<Next>;
  stop(): Promise<void>;
}

interface Wakes {
  readonly step: () => void;
  readonly pin: () => void;
}

function trackDaemon(daemon: MachineDaemon, joined: JoinedDaemon, wakes: Wakes): RunningDaemon {
  const { pinner } = joined;
  const listening = [joined.listen(wakes.step), pinner.listen(wakes.pin)];
  const under = new Set<Promise<unknown>>();
  const known = (step: Promise<Next>): Promise<Next> => {
    const ended = step
      .catch(() => {})
      .finally(() => {
        under.delete(ended);
      });
    under.add(ended);
    return step;
  };
  return {
    step: (view, signal) => known(joined.step(view, signal)),
    pin: (view, signal) => known(pinner.step(view, signal)),
    async stop() {
      for (const stopListening of listening) stopListening();
      await Promise.all(under);
      await daemon.stop();
    },
  };
}

interface WakeChannel {
  readonly wake: (nodeName: string) => void;
  readonly listen: (wake: (nodeName: string) => void) => () => void;
}

function createWakeChannel(): WakeChannel {
  let listener: (nodeName: string) => void = () => {};
  return {
    wake: (nodeName) => listener(nodeName),
    listen(wake) {
      listener = wake;
      return () => {
        listener = () => {};
      };
    },
  };
}

const noWatches: DirectoryWatcher = { watch: () => ({ close: () => {} }) };

/** These metrics describe one machine, and many machines have no separate endpoints to expose them. */
const unmeasured: DaemonMetrics = {
  observe: () => {},
  runsOn: () => {},
  osUpdateFailed: () => {},
  rebootFailed: () => {},
  drifted: () => {},
};

const unmeasuredPins: PinMetrics = { observe: () => {}, pulled: () => {} };
