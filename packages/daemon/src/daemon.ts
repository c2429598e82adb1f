// A daemon of one machine: at once what needs no cluster, and what it does with one as a controller.
import { driftPolicyAnnotation } from '@slipway/api/names';
import { machineConfigNodes, machineConfigurations, nodes } from '@slipway/api/resources';
import { type Client, type ControllerDef, done, type Log, type Metrics, type Read, type Recorder } from '@slipway/kube';
import type { UpdateResult, UpdateStep } from './apply/updater.ts';
import { createDirectoryWatcher } from './drift/directory-watcher.ts';
import { type DriftPolicy, parseDriftPolicy } from './drift/drift-policy.ts';
import type { DriftReport } from './drift/drift-report.ts';
import { type DriftWatch, watchDrift } from './drift/watch-drift.ts';
import type { Host } from './host/host.ts';
import { type LocalNode, openLocalNode } from './local-node.ts';
import { createNodeLoop, type NodeLoop } from './node-loop.ts';
import { createDaemonMetrics } from './report/metrics.ts';
import { createReporter } from './report/reporter.ts';
import type { Seen } from './seen.ts';

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

/** Downloads and OS changes take their time; that a step hangs shows in its condition. */
const STEP_LIMIT_MS = 3 * 3_600_000;
const CLUSTER = 'cluster';

/** Ends what an earlier run was cut off in, and watches the machine from then on. */
export async function startDaemon({
  host,
  root,
  nodeName,
  programVersion,
  log,
  metrics,
}: DaemonOptions): Promise<Daemon> {
  const daemonMetrics = createDaemonMetrics(metrics);
  daemonMetrics.runsOn(await host.os.describe());
  let loop: NodeLoop | null = null;
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
    watcher: createDirectoryWatcher({ root }),
    log,
    onDrift(report) {
      if (report.drifts.length + report.healed.length > 0 && drifted === '') daemonMetrics.drifted();
      drifted = report.drifts.length > 0 ? withDiffs(report) : '';
      onDrift?.(report);
    },
  });
  watchFromTheStart(local, recovered, watch);

  return {
    controller(client, events) {
      const reporter = createReporter({ client, events, nodeName, log, metrics: daemonMetrics });
      const drift = {
        found: () => drifted,
        pause: () => watch.pause(),
        resume(config: Parameters<DriftWatch['resume']>[0]) {
          drifted = '';
          watch.resume(config);
        },
      };
      const created = createNodeLoop({ host, local, client, reporter, metrics: daemonMetrics, drift, log, recovered });
      loop = created;
      let policy: string | undefined = '';
      return controllerOf(nodeName, created, {
        setPolicy(seen) {
          const next = seen.machineConfiguration?.metadata.annotations?.[driftPolicyAnnotation];
          if (next === policy) return;
          policy = next;
          watch.setPolicy(driftPolicyOf(next, log));
        },
        listen(wake) {
          onDrift = (report) => {
            if (report.text !== '') reporter.event('ConfigDriftDetected', report.text);
            wake();
          };
        },
      });
    },
    stop: () => watch.close(),
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

interface DriftHooks {
  setPolicy(seen: Seen): void;
  /** `wake` is called when drift was found, healed, or is gone. */
  listen(wake: () => void): void;
}

function controllerOf(nodeName: string, loop: NodeLoop, drift: DriftHooks): ControllerDef {
  const fieldSelector = `metadata.name=${nodeName}`;
  const ofNode = () => [nodeName];
  return {
    name: 'daemon',
    reads: [
      { resource: nodes, as: 'metadata', fieldSelector },
      { resource: machineConfigNodes, as: 'metadata', fieldSelector, keysOf: ofNode },
      { resource: machineConfigurations, fieldSelector: `metadata.name=${CLUSTER}`, keysOf: ofNode },
    ],
    owns: [{ resource: nodes }, { resource: machineConfigNodes, subresource: 'status' }],
    timeLimitMs: STEP_LIMIT_MS,
    listen(wake) {
      drift.listen(() => wake(nodeName));
      return () => drift.listen(() => {});
    },
    async reconcile(_, { read, signal }) {
      const seen = seenBy(read, nodeName);
      if (seen === null) return done();
      drift.setPolicy(seen);
      return loop.step(seen, signal);
    },
  };
}

/** Null: the kubelet has not registered the machine yet. */
function seenBy(read: Read, nodeName: string): Seen | null {
  const node = read(nodes, { as: 'metadata' }).get(nodeName);
  if (node === undefined) return null;
  return {
    node,
    machineConfigNode: read(machineConfigNodes, { as: 'metadata' }).get(nodeName),
    machineConfiguration: read(machineConfigurations).get(CLUSTER),
  };
}

function driftPolicyOf(text: string | undefined, log: Log): DriftPolicy {
  const parsed = parseDriftPolicy(text);
  if (!parsed.ok) log.warn(parsed.problem);
  return parsed.policy;
}
