// The node's controller: executes what next-node-step.ts decides, one action after the other.
import { nodeAnnotations } from '@slipway/api/names';
import { type Clock, systemClock } from '@slipway/base/clock';
import { readableEntries, stateFileCodec, string } from '@slipway/base/codec';
import { again, type Log, type Next } from '@slipway/kube';
import type { UpdateResult, UpdateStep } from '../apply/updater.ts';
import { describeDrifts } from '../drift/drift.ts';
import type { DriftWatch } from '../drift/watch-drift.ts';
import { DaemonError } from '../errors.ts';
import { type FileSystem, systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { findCodedProblem, toCodedProblem, type Problem } from '../problem.ts';
import type { DaemonMetrics } from '../report/metrics.ts';
import { buildAnnotations, diffAnnotations } from '../report/node-annotations.ts';
import type { Reporter } from '../report/reporter.ts';
import { type NodeSnapshot, type Phase, buildUpdateScope, type SnapshotProblem } from '../report/snapshot.ts';
import { CURRENT_CONFIG, NODE_ANNOTATIONS, readStateFile } from '../state-file.ts';
import type { ConfigReader, StoredConfig } from '../stored-config.ts';
import { type ClusterView, type NodeAnnotations, readNodeAnnotations } from './cluster-view.ts';
import { isForced, type LocalNode, takeForceFile } from './local-node.ts';
import {
  buildUnknownScope,
  createStepState,
  isClusterOutdated,
  nextNodeStep,
  type StepAction,
  type StepState,
} from './next-node-step.ts';
import { type PrepareResult, prepareUpdate } from './prepare-update.ts';

/** The part of the drift watch that the loop uses. */
export interface WatchedDrift extends Pick<DriftWatch, 'pause' | 'resume'> {
  /** Human-readable: the result of the last check. '' if it found nothing or has not run. */
  found(): string;
}

export interface NodeLoopOptions {
  readonly host: Host;
  readonly local: LocalNode;
  /** For the config that the machine already has. */
  readonly readConfig: ConfigReader;
  /** For the config that the node is assigned. */
  readonly readTarget: ConfigReader;
  /** Reads the Node from the API server, because a watch can be behind. */
  readonly readNode: () => Promise<ClusterView['node']>;
  readonly reporter: Reporter;
  readonly metrics: DaemonMetrics;
  readonly drift: WatchedDrift;
  readonly log: Log;
  /** The result of the recovery at startup. */
  readonly recovered: UpdateResult;
  readonly clock?: Pick<Clock, 'now'>;
}

export interface NodeLoop {
  /** Runs one step. Steps never run concurrently. */
  step(view: ClusterView, signal: AbortSignal): Promise<Next>;
  /** Called by the updater during an update. */
  onStep(step: UpdateStep): Promise<void>;
}

/** An update continues without the cluster: a slow report must not delay the machine. */
const STEP_REPORT_MS = 5000;

const DISK_RETRY_MS = 30_000;

const PHASES: Readonly<Record<UpdateStep['step'], Phase>> = {
  'going on': 'applying files',
  staged: 'applying files',
  files: 'applying files',
  os: 'applying os',
  'post action': 'post action',
  reboot: 'rebooting',
  verified: 'verifying',
  'rolling back': 'applying files',
};

type ActionResult = Partial<Pick<StepState, 'ended' | 'noConfig' | 'prepared'>>;

export function createNodeLoop(options: NodeLoopOptions): NodeLoop {
  const { host, local, readConfig, readTarget, readNode, reporter, metrics, drift, log } = options;
  const { clock = systemClock } = options;
  const { tell, tellProblem } = createSnapshotReporter(local, reporter);
  let state = createStepState(options.recovered);
  /** For an update that is about to start. */
  let isDriftPaused = false;
  /** The config of the update that waits for its drain. It can be 1.4 MB, so it is not fetched and parsed twice. */
  let waiting: StoredConfig | null = null;

  async function step(view: ClusterView, signal: AbortSignal): Promise<Next> {
    // Results of an earlier, interrupted step may be outdated.
    state = { ...state, noConfig: null, prepared: null };
    try {
      await local.saveRest();
      for (;;) {
        const { action, state: next } = nextNodeStep(await observe(view), state);
        state = next;
        state = { ...next, ...(await executeAction(action, view, signal)) };
        if ('next' in action) return action.next;
      }
    } catch (error) {
      return await reportDisk(error, view);
    } finally {
      if (isDriftPaused) resumeDriftWatch();
    }
  }

  /** A disk that refuses what the daemon itself writes stops the node until it recovers. */
  async function reportDisk(error: unknown, view: ClusterView): Promise<Next> {
    const problem = systemErrorCode(error) === undefined ? null : findCodedProblem(error);
    if (problem === null) throw error;
    log.warn({ problem }, 'the disk refuses a read or write of the daemon; retrying');
    await tellProblem({ ...problem, state: 'Degraded' }, view);
    return again(DISK_RETRY_MS);
  }

  const observe = async (view: ClusterView) => ({
    now: clock.now(),
    current: local.current()?.name ?? null,
    memory: local.memory(),
    said: await readAnnotations(view),
    settings: view.machineConfiguration?.spec,
    isForced: await isForced(host.files),
    drift: drift.found(),
  });

  /**
   * A view that does not show this node's own report yet looks like a cluster that was restored from a backup, which
   * would hold the update. So the Node is read again first.
   */
  async function readAnnotations(view: ClusterView): Promise<NodeAnnotations> {
    const said = readNodeAnnotations(view);
    const current = local.current()?.name ?? null;
    const isSuspect = current !== null && isClusterOutdated(current, said.currentConfig, local.memory());
    return isSuspect ? readNodeAnnotations({ ...view, node: await readNode() }) : said;
  }

  async function executeAction(action: StepAction, view: ClusterView, signal: AbortSignal): Promise<ActionResult> {
    if (action.isOSFailure === true) metrics.osUpdateFailed();
    if (action.type === 'conclude') resumeDriftWatch();
    if (action.memory !== undefined) await local.remember(action.memory);
    switch (action.type) {
      case 'wait':
      case 'conclude':
        return {};
      case 'report':
        if (action.warning !== undefined) warn(action.warning, view);
        await tell(action.snapshot, view);
        if (action.endsUpdate === true) await endUpdate();
        return {};
      case 'recover':
        return recordEnded(await local.recover());
      case 'find first config':
        return findFirstConfig(view, signal);
      case 'prepare':
        return { prepared: await prepare(action, view, signal) };
      case 'adopt':
        await local.adopt(action.config);
        resumeDriftWatch();
        await local.remember({ ...local.memory(), lacks: action.lacks });
        return {};
      case 'apply':
        if (action.takesForceFile) await takeForceFile(host.files);
        // It resumes after the update.
        isDriftPaused = false;
        return recordEnded(await local.update(action.update));
    }
  }

  function warn(text: string, view: ClusterView): void {
    log.warn({ current: local.current()?.name, target: readNodeAnnotations(view).desiredConfig }, text);
  }

  async function endUpdate(): Promise<void> {
    const { update: _update, ...rest } = local.memory();
    await local.remember(rest);
  }

  function recordEnded(ended: UpdateResult): ActionResult {
    log.info({ result: ended }, 'the update ended');
    return { ended };
  }

  function resumeDriftWatch(): void {
    const current = local.current();
    isDriftPaused = false;
    if (current !== null) drift.resume(current);
  }

  async function findFirstConfig(view: ClusterView, signal: AbortSignal): Promise<ActionResult> {
    const noConfig = await adoptFirstConfig(
      { host, local, readConfig, reporter },
      readNodeAnnotations(view).currentConfig,
      signal,
    );
    resumeDriftWatch();
    return { noConfig };
  }

  async function prepare(
    { target, isForced, isPrepared, isDrained, isTold }: Extract<StepAction, { type: 'prepare' }>,
    view: ClusterView,
    signal: AbortSignal,
  ): Promise<PrepareResult> {
    const current = local.current();
    if (current === null) throw new Error('an update needs a current config');
    if (!isTold) await tell({ phase: 'preparing', update: buildUnknownScope(target) }, view);
    const settings = view.machineConfiguration?.spec;
    const prepared = await prepareUpdate(
      { current, target, settings, isForced, isPrepared, isDrained },
      {
        host,
        local,
        readConfig: async (name, aborted) =>
          isPrepared && waiting?.name === name ? waiting : readTarget(name, aborted),
        log,
        signal,
        async pauseDrift() {
          isDriftPaused = true;
          await drift.pause();
        },
        onDownload: (plan, download) => tell({ phase: 'preparing', update: buildUpdateScope(plan), download }, view),
      },
    );
    waiting = prepared.type === 'ready' && prepared.preflight === null ? prepared.target : null;
    if (prepared.type !== 'ready') log.warn({ problem: prepared.problem }, 'the update cannot start');
    if (prepared.type === 'refused' && prepared.cause === 'download') metrics.osUpdateFailed();
    return prepared;
  }

  async function onStep({ step, text }: UpdateStep): Promise<void> {
    log.info({ step }, text);
    const undone = { code: 'SLW_DAEMON_STEP', message: text, state: 'Degraded', undo: 'under way' } as const;
    const reporting = tell({ phase: PHASES[step], problem: step === 'rolling back' ? undone : null }, null);
    const timeout = new Promise<void>((resolve) => {
      setTimeout(resolve, STEP_REPORT_MS).unref();
    });
    await Promise.race([reporting, timeout]).catch((error: unknown) => {
      log.warn({ err: error }, 'could not report a step to the cluster; the update continues');
    });
  }

  return { step, onStep };
}

interface SnapshotReporter {
  /** Fields that are left out: the machine is at its config, without problems. `view` null: report in any case. */
  tell(this: void, more: Partial<NodeSnapshot>, view: ClusterView | null): Promise<void>;
  /** Adds a problem to the last report. Writes nothing to the disk. */
  tellProblem(this: void, problem: SnapshotProblem, view: ClusterView): Promise<void>;
}

/** Reports the node to the cluster, and remembers what was reported. */
function createSnapshotReporter(local: LocalNode, reporter: Reporter): SnapshotReporter {
  let desiredConfig: string | null = null;
  let last: Partial<NodeSnapshot> = {};
  let lastReported = '';

  return {
    async tell(more, view) {
      last = more;
      const reported = await report(more, view);
      if (reported !== null) await local.remember({ ...local.memory(), reported });
    },
    async tellProblem(problem, view) {
      await report({ ...last, problem }, view);
    },
  };

  /** Resolves to the reported config. Null: none. */
  async function report(more: Partial<NodeSnapshot>, view: ClusterView | null): Promise<string | null> {
    if (view !== null) ({ desiredConfig } = readNodeAnnotations(view));
    const snapshot: NodeSnapshot = {
      currentConfig: local.current()?.name ?? null,
      desiredConfig,
      phase: 'idle',
      update: local.memory().update ?? null,
      problem: null,
      desiredDrain: null,
      irreconcilable: local.memory().lacks ?? [],
      ...more,
    };
    if (!isAlreadyReported(snapshot, view)) {
      await reporter.report(snapshot);
      lastReported = computeFingerprint(snapshot, view);
    }
    return snapshot.currentConfig;
  }

  /** Saves a read and a write, because a Node changes every few seconds. */
  function isAlreadyReported(snapshot: NodeSnapshot, view: ClusterView | null): boolean {
    if (view === null || lastReported !== computeFingerprint(snapshot, view)) return false;
    const { annotations = {} } = view.node.metadata;
    return Object.keys(diffAnnotations(annotations, buildAnnotations(snapshot))).length === 0;
  }
}

function computeFingerprint(snapshot: NodeSnapshot, seen: ClusterView | null): string {
  const { uid, generation } = seen?.machineConfigNode?.metadata ?? {};
  return JSON.stringify([snapshot, seen?.node.metadata.uid, uid, generation]);
}

interface FirstConfigDeps {
  readonly host: Pick<Host, 'files'>;
  readonly local: Pick<LocalNode, 'verify' | 'adopt'>;
  readonly readConfig: ConfigReader;
  readonly reporter: Pick<Reporter, 'event'>;
}

/**
 * Finds the config of a machine whose disk does not name it: the one from its Node (`reportedConfig`; null: none) or
 * from its first boot, if the machine matches it. Resolves to null if the machine now has its config.
 */
async function adoptFirstConfig(
  { host, local, readConfig, reporter }: FirstConfigDeps,
  reportedConfig: string | null,
  signal: AbortSignal,
): Promise<Problem | null> {
  try {
    const name = reportedConfig ?? (await readFirstConfigName(host.files));
    const config = await readConfig(name, signal);
    const drifts = (await isForced(host.files)) ? [] : await local.verify(config);
    if (drifts.length === 0) {
      await local.adopt(config);
      return null;
    }
    const message = describeDrifts(name, drifts);
    reporter.event('OnDiskStateValidationFailed', message);
    return { code: 'SLW_DAEMON_DRIFT', message };
  } catch (error) {
    return toCodedProblem(error);
  }
}

const MAX_BYTES = 64 * 1024;
/** Ignores values that are not strings. */
const annotationsFile = stateFileCodec({ maxChars: MAX_BYTES, decoder: readableEntries(string()) });

/** Rejects with a DaemonError if no file names it. */
async function readFirstConfigName(files: FileSystem): Promise<string> {
  const name = await readRecordedName(files);
  if (name !== null) return name;
  throw new DaemonError(
    'SLW_DAEMON_NO_CONFIG',
    `this machine does not know its current config: its disk has no ${CURRENT_CONFIG}, and neither ${NODE_ANNOTATIONS} nor its Node object has the annotation currentConfig. Install the machine through the machine config server, or set the Node’s annotation currentConfig to the config that the machine really has`,
  );
}

async function readRecordedName(files: FileSystem): Promise<string | null> {
  const annotations = await readStateFile(files, NODE_ANNOTATIONS, annotationsFile, MAX_BYTES).catch(() => null);
  return annotations?.get(nodeAnnotations.currentConfig) ?? null;
}
