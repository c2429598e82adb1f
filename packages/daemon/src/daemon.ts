// The daemon of one machine. Recovery and drift detection run without a cluster; everything else runs as a controller.
import { driftPolicyAnnotation } from '@slipway/api/names';
import { nodes } from '@slipway/api/resources';
import { systemClock } from '@slipway/base/clock';
import { DETAILS_COMMAND } from '@slipway/fleet';
import {
  again,
  type Client,
  type ControllerDef,
  done,
  type Log,
  type Metrics,
  type Next,
  type Recorder,
} from '@slipway/kube';
import type { UpdateResult, UpdateStep } from './apply/updater.ts';
import { type DriftPolicy, parseDriftPolicy } from './drift/healing.ts';
import { type DriftReport, type DriftWatch, watchDrift } from './drift/watch-drift.ts';
import { createDirectoryWatcher, type DirectoryWatcher } from './drift/watches.ts';
import type { Host } from './host/host.ts';
import {
  type ClusterView,
  computeSettingsDelayMs,
  createSettingsReader,
  daemonSources,
  readClusterView,
  type SettingsReader,
} from './node/cluster-view.ts';
import { type LocalNode, openLocalNode } from './node/local-node.ts';
import { createNodeLoop, type NodeLoop } from './node/node-loop.ts';
import { createPinMetrics, type PinMetrics } from './pinning/pin-metrics.ts';
import { createPinner, type Pinner, pinningSources, readPinClusterView } from './pinning/pinner.ts';
import { createPinCluster } from './pinning/reporter.ts';
import { createDaemonMetrics, type DaemonMetrics } from './report/metrics.ts';
import { createReporter } from './report/reporter.ts';
import { createConfigReader, createTargetReader } from './stored-config.ts';

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
  /** One for its config, one for its images, so that neither waits for the other. */
  controllers(client: Client, events: Recorder): readonly ControllerDef[];
  stop(): Promise<void>;
}

/** Finishes an interrupted update first, then watches the machine for drift. */
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
      const settings = createSettingsReader(client);
      return [configController(options.nodeName, joined, settings), pinningController(options.nodeName, joined.pinner)];
    },
    stop: () => daemon.stop(),
  };
}

function configController(nodeName: string, joined: JoinedDaemon, settings: SettingsReader): ControllerDef {
  return {
    name: 'daemon',
    ...daemonSources({ node: nodeName }),
    listen: (wake) => joined.listen(() => wake(nodeName)),
    async reconcile(_, { read, signal }) {
      const view = readClusterView(read, nodeName, await settings.read(signal));
      if (view === null) return done();
      const next = await joined.step(view, signal);
      const delayMs = computeSettingsDelayMs(view);
      return again(next.type === 'again' ? Math.min(next.afterMs, delayMs) : delayMs);
    },
  };
}

function pinningController(nodeName: string, pinner: Pinner): ControllerDef {
  return {
    name: 'pinning',
    ...pinningSources({ node: nodeName }),
    listen: (wake) => pinner.listen(() => wake(nodeName)),
    reconcile: (_, { read, signal }) => pinner.step(readPinClusterView(read, nodeName), signal),
  };
}

export interface MachineDaemonOptions {
  readonly host: Host;
  readonly watcher: DirectoryWatcher;
  readonly nodeName: string;
  readonly programVersion: string;
  readonly log: Log;
  readonly metrics: DaemonMetrics;
  readonly pinMetrics: PinMetrics;
  /**
   * Machines that are assigned the same images start pulling at different moments within this time. Default: 10
   * seconds.
   */
  readonly pinSpreadMs?: number;
  /** A monotonic clock in milliseconds, for the timers of pinning. Default: the clock of this process. */
  readonly pinNow?: () => number;
}

export interface MachineDaemon {
  /** Called once. From then on the daemon reports to the cluster. */
  join(cluster: NodeAccess): JoinedDaemon;
  stop(): Promise<void>;
}

/** The cluster, accessed with the credentials of the node. */
export interface NodeAccess {
  readonly client: Client;
  readonly events: Recorder;
}

export interface JoinedDaemon {
  /** Steps never run concurrently. */
  step(view: ClusterView, signal: AbortSignal): Promise<Next>;
  /** Calls `wake` when drift appears, is healed or disappears. Returns a function that stops it. */
  listen(wake: () => void): () => void;
  /** Pins images in parallel with the steps of an update. */
  readonly pinner: Pinner;
}

/** Finishes an interrupted update first, then watches the machine for drift. */
export async function startMachineDaemon(options: MachineDaemonOptions): Promise<MachineDaemon> {
  const { host, nodeName, programVersion, log, metrics } = options;
  metrics.runsOn(await host.os.describe());
  let loop: NodeLoop | null = null;
  let pinner: Pinner | null = null;
  let drifted = '';
  let onDrift: ((report: DriftReport) => void) | null = null;
  const onStep = async (step: UpdateStep): Promise<void> => {
    if (loop === null) log.info({ step: step.step }, step.text);
    else await loop.onStep(step);
  };
  const { ability: osAbility } = await host.os.facts();
  const local = await openLocalNode({ host, programVersion, onStep });
  const recovered = await local.recover();
  if (recovered.outcome !== 'none') log.info({ result: recovered }, 'resumed the update that was interrupted');
  const watch = watchDrift({
    host,
    watcher: options.watcher,
    log,
    onDrift(report) {
      if (report.drifts.length + report.healed.length > 0 && drifted === '') metrics.drifted();
      drifted = report.drifts.length > 0 ? withDetails(report) : '';
      onDrift?.(report);
    },
  });
  startWatching(local, recovered, watch);

  return {
    join({ client, events }) {
      const reporter = createReporter({ client, events, nodeName, osAbility, log, metrics });
      const readConfig = createConfigReader(client);
      const readTarget = createTargetReader(client, nodeName);
      const drift = {
        found: () => drifted,
        pause: () => watch.pause(),
        resume(config: Parameters<DriftWatch['resume']>[0]) {
          drifted = '';
          watch.resume(config);
        },
      };
      const readNode = () => client.get(nodes, { name: nodeName });
      const joined = createNodeLoop({
        host,
        local,
        readConfig,
        readTarget,
        readNode,
        reporter,
        metrics,
        drift,
        log,
        recovered,
      });
      loop = joined;
      const setPolicy = createPolicySetter(watch, log);
      pinner = createPinner({
        host,
        cluster: createPinCluster(client, nodeName),
        nodeName,
        log: log.child({ part: 'pinning' }),
        metrics: options.pinMetrics,
        ...(options.pinSpreadMs !== undefined && { spreadMs: options.pinSpreadMs }),
        clock: options.pinNow === undefined ? systemClock : { ...systemClock, now: options.pinNow },
      });
      return {
        pinner,
        step(view, signal) {
          setPolicy(view);
          return joined.step(view, signal);
        },
        listen(wake) {
          onDrift = (report) => {
            if (report.text !== '') reporter.event('ConfigDriftDetected', report.text);
            wake();
          };
          return () => {
            onDrift = null;
          };
        },
      };
    },
    async stop() {
      await pinner?.stop();
      await watch.close();
    },
  };
}

/** The cluster gets paths and sizes; the differences stay on the machine. */
function withDetails({ text, drifts }: DriftReport): string {
  return drifts.some(({ diff }) => diff !== '')
    ? `${text}. See the differences on the machine: ${DETAILS_COMMAND}`
    : text;
}

/** A machine that is rebooting or stuck between two configs is not watched: it differs from its config anyway. */
function startWatching(local: LocalNode, recovered: UpdateResult, watch: DriftWatch): void {
  const current = local.current();
  if (current === null || recovered.outcome === 'rebooting' || recovered.outcome === 'stuck') return;
  if (recovered.outcome === 'old' && recovered.rebooting) return;
  watch.resume(current);
}

function createPolicySetter(watch: DriftWatch, log: Log): (view: ClusterView) => void {
  let policy: string | undefined = '';
  return ({ machineConfiguration }) => {
    const next = machineConfiguration?.metadata.annotations?.[driftPolicyAnnotation];
    if (next === policy) return;
    policy = next;
    watch.setPolicy(readDriftPolicy(next, log));
  };
}

function readDriftPolicy(text: string | undefined, log: Log): DriftPolicy {
  const parsed = parseDriftPolicy(text);
  if (!parsed.ok) log.warn(parsed.problem);
  return parsed.policy;
}
