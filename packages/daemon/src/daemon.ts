// A daemon of one machine: at once what needs no cluster, and what it does with one as a controller.
import { type Client, type ControllerDef, done, type Log, type Metrics, type Recorder } from '@slipway/kube';
import { createDirectoryWatcher } from './drift/directory-watcher.ts';
import type { Host } from './host/host.ts';
import { type JoinedDaemon, type MachineDaemonOptions, startMachineDaemon } from './machine-daemon.ts';
import { daemonSources, seenBy } from './node-sources.ts';
import { createPinMetrics } from './pinning/pin-metrics.ts';
import { type Pinner, pinningSources, pinsSeenBy } from './pinning/pinner.ts';
import { createDaemonMetrics } from './report/metrics.ts';

export interface DaemonOptions extends Pick<MachineDaemonOptions, 'pinSpreadMs' | 'pinNow'> {
  readonly host: Host;
  /** Where the machine's disk is mounted. */
  readonly root: string;
  readonly nodeName: string;
  readonly programVersion: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Daemon {
  /** One for its config, one for its images: neither waits for the other. */
  controllers(client: Client, events: Recorder): readonly ControllerDef[];
  stop(): Promise<void>;
}

/** Ends what an earlier run was cut off in, and watches the machine from then on. */
export async function startDaemon({ root, metrics, ...options }: DaemonOptions): Promise<Daemon> {
  const daemon = await startMachineDaemon({
    ...options,
    watcher: createDirectoryWatcher({ root }),
    metrics: createDaemonMetrics(metrics),
    pinMetrics: createPinMetrics(metrics),
  });
  return {
    controllers(client, events) {
      const joined = daemon.join({ client, events });
      return [configController(options.nodeName, joined), pinningController(options.nodeName, joined.pinner)];
    },
    stop: () => daemon.stop(),
  };
}

function configController(nodeName: string, joined: JoinedDaemon): ControllerDef {
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

function pinningController(nodeName: string, pinner: Pinner): ControllerDef {
  return {
    name: 'pinning',
    ...pinningSources({ node: nodeName }),
    listen: (wake) => pinner.listen(() => wake(nodeName)),
    reconcile: (_, { read, signal }) => pinner.step(pinsSeenBy(read, nodeName), signal),
  };
}
