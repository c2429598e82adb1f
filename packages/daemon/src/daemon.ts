// A daemon of one machine: at once what needs no cluster, and what it does with one as a controller.
import { type Client, type ControllerDef, done, type Log, type Metrics, type Recorder } from '@slipway/kube';
import { createDirectoryWatcher } from './drift/directory-watcher.ts';
import type { Host } from './host/host.ts';
import { type JoinedDaemon, startMachineDaemon } from './machine-daemon.ts';
import { daemonSources, seenBy } from './node-sources.ts';
import { createDaemonMetrics } from './report/metrics.ts';

export interface DaemonOptions {
  readonly host: Host;
  /** Where the machine's disk is mounted. */
  readonly root: string;
  readonly nodeName: string;
  readonly programVersion: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Daemon {
  controller(client: Client, events: Recorder): ControllerDef;
  stop(): Promise<void>;
}

/** Ends what an earlier run was cut off in, and watches the machine from then on. */
export async function startDaemon({ root, metrics, ...options }: DaemonOptions): Promise<Daemon> {
  const daemon = await startMachineDaemon({
    ...options,
    watcher: createDirectoryWatcher({ root }),
    metrics: createDaemonMetrics(metrics),
  });
  return {
    controller: (client, events) => controllerOf(options.nodeName, daemon.join({ client, events })),
    stop: () => daemon.stop(),
  };
}

function controllerOf(nodeName: string, joined: JoinedDaemon): ControllerDef {
  return {
    name: 'daemon',
    ...daemonSources({ node: nodeName }),
    listen: (wake) => joined.listen(() => wake(nodeName)),
    async reconcile(_, { read, signal }) {
      const seen = seenBy(read, nodeName);
      return seen === null ? done() : joined.step(seen, signal);
    },
  };
}
