// The daemon of one machine, but for how it hears from the cluster: at once what needs none, and its steps once there is one.
import { driftPolicyAnnotation } from '@slipway/api/names';
import type { Client, Log, Next, Recorder } from '@slipway/kube';
import type { UpdateResult, UpdateStep } from './apply/updater.ts';
import type { DirectoryWatcher } from './drift/directory-watcher.ts';
import { type DriftPolicy, parseDriftPolicy } from './drift/drift-policy.ts';
import type { DriftReport } from './drift/drift-report.ts';
import { type DriftWatch, watchDrift } from './drift/watch-drift.ts';
import type { Host } from './host/host.ts';
import { type LocalNode, openLocalNode } from './local-node.ts';
import { createNodeLoop, type NodeLoop } from './node-loop.ts';
import type { PinMetrics } from './pinning/pin-metrics.ts';
import { createPinner, type Pinner } from './pinning/pinner.ts';
import { createPinCluster } from './pinning/reporter.ts';
import { createConfigReader } from './read-config.ts';
import type { DaemonMetrics } from './report/metrics.ts';
import { createReporter } from './report/reporter.ts';
import type { Seen } from './seen.ts';

export interface MachineDaemonOptions {
  readonly host: Host;
  readonly watcher: DirectoryWatcher;
  readonly nodeName: string;
  readonly programVersion: string;
  readonly log: Log;
  readonly metrics: DaemonMetrics;
  readonly pinMetrics: PinMetrics;
  /** Machines that are told of the same images begin within this time, each at its own moment; left out: 10 seconds. */
  readonly pinSpreadMs?: number;
  /** The clock that pinning waits by, in milliseconds that only grow; left out: that of this process. */
  readonly pinNow?: () => number;
}

export interface MachineDaemon {
  /** Once: from then on it tells the cluster what it does. */
  join(cluster: NodeAccess): JoinedDaemon;
  stop(): Promise<void>;
}

/** The cluster by the identity of the node. */
export interface NodeAccess {
  readonly client: Client;
  readonly events: Recorder;
}

export interface JoinedDaemon {
  /** Never two at once. */
  step(seen: Seen, signal: AbortSignal): Promise<Next>;
  /** `wake` is called when drift was found, healed, or is gone. Returns the way to stop listening. */
  listen(wake: () => void): () => void;
  /** What it does about pinned images: beside its steps, and not in turn with them. */
  readonly pinner: Pinner;
}

/** Ends what an earlier run was cut off in, and watches the machine from then on. */
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
  const local = await openLocalNode({ host, programVersion, onStep });
  const recovered = await local.recover();
  if (recovered.outcome !== 'none') log.info({ result: recovered }, 'went on with the update that was under way');
  const watch = watchDrift({
    host,
    watcher: options.watcher,
    log,
    onDrift(report) {
      if (report.drifts.length + report.healed.length > 0 && drifted === '') metrics.drifted();
      drifted = report.drifts.length > 0 ? withDiffs(report) : '';
      onDrift?.(report);
    },
  });
  watchFromTheStart(local, recovered, watch);

  return {
    join({ client, events }) {
      const reporter = createReporter({ client, events, nodeName, log, metrics });
      const readConfig = createConfigReader(client);
      const drift = {
        found: () => drifted,
        pause: () => watch.pause(),
        resume(config: Parameters<DriftWatch['resume']>[0]) {
          drifted = '';
          watch.resume(config);
        },
      };
      const joined = createNodeLoop({ host, local, readConfig, reporter, metrics, drift, log, recovered });
      loop = joined;
      const setPolicy = policySetter(watch, log);
      pinner = createPinner({
        host,
        cluster: createPinCluster(client, nodeName),
        nodeName,
        log: log.child({ part: 'pinning' }),
        metrics: options.pinMetrics,
        ...(options.pinSpreadMs !== undefined && { spreadMs: options.pinSpreadMs }),
        ...(options.pinNow !== undefined && { now: options.pinNow }),
      });
      return {
        pinner,
        step(seen, signal) {
          setPolicy(seen);
          return joined.step(seen, signal);
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

/** An annotation has room for some kilobytes; all of them are in the log. */
const MOST_DIFF = 4000;

function withDiffs({ text, drifts }: DriftReport): string {
  const diffs = drifts.map(({ diff }) => diff).filter((diff) => diff !== '');
  const all = diffs.join('\n');
  if (all === '') return text;
  return `${text}\n${all.length > MOST_DIFF ? `${all.slice(0, MOST_DIFF)}…` : all}`;
}

/** A machine that goes down or could not be brought to one config is not watched: it is known not to be right. */
function watchFromTheStart(local: LocalNode, recovered: UpdateResult, watch: DriftWatch): void {
  const current = local.current();
  if (current === null || recovered.outcome === 'rebooting' || recovered.outcome === 'stuck') return;
  if (recovered.outcome === 'old' && recovered.rebooting) return;
  watch.resume(current);
}

function policySetter(watch: DriftWatch, log: Log): (seen: Seen) => void {
  let policy: string | undefined = '';
  return ({ machineConfiguration }) => {
    const next = machineConfiguration?.metadata.annotations?.[driftPolicyAnnotation];
    if (next === policy) return;
    policy = next;
    watch.setPolicy(driftPolicyOf(next, log));
  };
}

function driftPolicyOf(text: string | undefined, log: Log): DriftPolicy {
  const parsed = parseDriftPolicy(text);
  if (!parsed.ok) log.warn(parsed.problem);
  return parsed.policy;
}
