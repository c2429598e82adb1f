// The daemons of many machines in one process: what each would watch for itself is watched once for all of them. Each has its
// machine, its memory and its identity for itself, and does what it would do alone.
import { type ControllerDef, done, type Log, type Next } from '@slipway/kube';
import { createDirectoryWatcher, type DirectoryWatcher } from '../drift/directory-watcher.ts';
import type { Host } from '../host/host.ts';
import { type JoinedDaemon, type MachineDaemon, type NodeAccess, startMachineDaemon } from '../machine-daemon.ts';
import { daemonSources, seenBy } from '../node-sources.ts';
import type { DaemonMetrics } from '../report/metrics.ts';
import type { Seen } from '../seen.ts';

export interface ManyDaemonsOptions {
  readonly programVersion: string;
  readonly log: Log;
  /** By the node's own identity. */
  accessOf(this: void, nodeName: string): NodeAccess;
  /** False: changes on disks are found when all is looked at, which is every few minutes. For more machines than there are watches. */
  readonly watchesDisks: boolean;
  /** Steps at the same time; the others wait. */
  readonly workers?: number;
}

export interface StartedMachine {
  readonly nodeName: string;
  readonly host: Host;
  readonly root: string;
}

export interface ManyDaemons {
  readonly controller: ControllerDef;
  /** As the boot of that machine does it. */
  start(machine: StartedMachine): Promise<void>;
  /** As its shutdown does it; resolves when a step that was under way has ended. */
  stop(nodeName: string): Promise<void>;
  stopAll(): Promise<void>;
}

/** They wait for the API server most of the time, which commits what comes together in one go. */
const USUAL_WORKERS = 32;

export function createManyDaemons(options: ManyDaemonsOptions): ManyDaemons {
  const { programVersion, accessOf, watchesDisks, workers = USUAL_WORKERS } = options;
  const running = new Map<string, Running>();
  let wake: (nodeName: string) => void = () => {};

  async function stop(nodeName: string): Promise<void> {
    const found = running.get(nodeName);
    running.delete(nodeName);
    await found?.stop();
  }

  return {
    controller: {
      name: 'daemons',
      ...daemonSources({ nodeNames: () => [...running.keys()] }),
      workers,
      listen(wakeUp) {
        wake = wakeUp;
        return () => {
          wake = () => {};
        };
      },
      async reconcile(nodeName, { read, signal }) {
        const seen = seenBy(read, nodeName);
        // A machine that is down does nothing, and one that was never here is none of ours.
        return seen === null ? done() : (running.get(nodeName)?.step(seen, signal) ?? done());
      },
    },
    async start({ nodeName, host, root }) {
      await stop(nodeName);
      const watcher = watchesDisks ? createDirectoryWatcher({ root }) : noWatches;
      const log = options.log.child({ node: nodeName });
      const daemon = await startMachineDaemon({ host, watcher, nodeName, programVersion, log, metrics: unmeasured });
      running.set(
        nodeName,
        runningOf(daemon, daemon.join(accessOf(nodeName)), () => wake(nodeName)),
      );
      wake(nodeName);
    },
    stop,
    async stopAll() {
      await Promise.all([...running.keys()].map(stop));
    },
  };
}

interface Running {
  step(seen: Seen, signal: AbortSignal): Promise<Next>;
  stop(): Promise<void>;
}

function runningOf(daemon: MachineDaemon, joined: JoinedDaemon, wake: () => void): Running {
  const stopListening = joined.listen(wake);
  let under: Promise<unknown> = Promise.resolve();
  return {
    step(seen, signal) {
      const step = joined.step(seen, signal);
      under = step.catch(() => {});
      return step;
    },
    async stop() {
      stopListening();
      await under;
      await daemon.stop();
    },
  };
}

const noWatches: DirectoryWatcher = { watch: () => ({ close: () => {} }) };

/** They say something of one machine, and there is no place to ask each of many for its own. */
const unmeasured: DaemonMetrics = {
  observe: () => {},
  runsOn: () => {},
  osUpdateFailed: () => {},
  rebootFailed: () => {},
  drifted: () => {},
};
