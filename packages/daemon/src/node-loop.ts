// The node's part in the cluster: carries out what next-node-step.ts decides, one action after the other.
import type { Log, Next } from '@slipway/kube';
import type { UpdateResult, UpdateStep } from './apply/updater.ts';
import { isForced, takeForceFile } from './drift/force-file.ts';
import type { DriftWatch } from './drift/watch-drift.ts';
import { adoptFirstConfig } from './first-config.ts';
import type { Host } from './host/host.ts';
import type { LocalNode } from './local-node.ts';
import { nextNodeStep, startState, type StepAction, type StepState, unknownScope } from './next-node-step.ts';
import { type Prepared, prepareUpdate } from './prepare-update.ts';
import type { ConfigReader } from './read-config.ts';
import type { DaemonMetrics } from './report/metrics.ts';
import type { Reporter } from './report/reporter.ts';
import { type Phase, scopeOf } from './report/snapshot.ts';
import { saidBy, type Seen } from './seen.ts';
import { createTeller } from './teller.ts';

/** What the loop asks of the watch for drift. */
export interface WatchedDrift extends Pick<DriftWatch, 'pause' | 'resume'> {
  /** For people: what the last check found; '' for nothing, or that there was none yet. */
  found(): string;
}

export interface NodeLoopOptions {
  readonly host: Host;
  readonly local: LocalNode;
  readonly readConfig: ConfigReader;
  readonly reporter: Reporter;
  readonly metrics: DaemonMetrics;
  readonly drift: WatchedDrift;
  readonly log: Log;
  /** What the recovery at the start came to. */
  readonly recovered: UpdateResult;
}

export interface NodeLoop {
  /** One step. Never two at once. */
  step(seen: Seen, signal: AbortSignal): Promise<Next>;
  /** From the updater, in the middle of an update. */
  onStep(step: UpdateStep): Promise<void>;
}

/** An update goes on without the cluster: telling it of a step must not hold the machine up. */
const STEP_REPORT_MS = 5000;

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

/** What an action came to. */
type Outcome = Partial<Pick<StepState, 'ended' | 'noConfig' | 'prepared'>>;

export function createNodeLoop(options: NodeLoopOptions): NodeLoop {
  const { host, local, readConfig, reporter, metrics, drift, log } = options;
  const { tell } = createTeller(local, reporter);
  let state = startState(options.recovered);
  /** For an update that is about to begin. */
  let isDriftPaused = false;

  async function step(seen: Seen, signal: AbortSignal): Promise<Next> {
    // What an earlier step found out, and was cut off before it used it, may hold no more.
    state = { ...state, noConfig: null, prepared: null };
    try {
      for (;;) {
        const { action, state: next } = nextNodeStep(await observe(seen), state);
        state = next;
        state = { ...next, ...(await carryOut(action, seen, signal)) };
        if ('next' in action) return action.next;
      }
    } finally {
      if (isDriftPaused) watchAgain();
    }
  }

  const observe = async (seen: Seen) => ({
    now: performance.now(),
    current: local.current()?.name ?? null,
    memory: local.memory(),
    said: saidBy(seen),
    settings: seen.machineConfiguration?.spec,
    isForced: await isForced(host.files),
    drift: drift.found(),
  });

  async function carryOut(action: StepAction, seen: Seen, signal: AbortSignal): Promise<Outcome> {
    if (action.isOSFailure === true) metrics.osUpdateFailed();
    if (action.memory !== undefined) await local.remember(action.memory);
    switch (action.type) {
      case 'wait':
        return {};
      case 'report':
        if (action.warning !== undefined) warn(action.warning, seen);
        await tell(action.snapshot, seen);
        if (action.endsUpdate === true) await endUpdate();
        return {};
      case 'recover':
        return endedSo(await local.recover());
      case 'conclude':
        watchAgain();
        return { ended: null };
      case 'find first config':
        return findFirst(seen, signal);
      case 'prepare':
        return { prepared: await prepare(action, seen, signal) };
      case 'adopt':
        await local.adopt(action.config);
        await local.remember({ ...local.memory(), lacks: action.lacks });
        watchAgain();
        return {};
      case 'apply':
        // Watched again when it has ended.
        isDriftPaused = false;
        if (action.takesForceFile) await takeForceFile(host.files);
        return endedSo(await local.update(action.update));
    }
  }

  function warn(text: string, seen: Seen): void {
    log.warn({ current: local.current()?.name, target: saidBy(seen).desiredConfig }, text);
  }

  async function endUpdate(): Promise<void> {
    const { update: _update, ...rest } = local.memory();
    await local.remember(rest);
  }

  function endedSo(ended: UpdateResult): Outcome {
    log.info({ result: ended }, 'what an update came to');
    return { ended };
  }

  function watchAgain(): void {
    const current = local.current();
    isDriftPaused = false;
    if (current !== null) drift.resume(current);
  }

  async function findFirst(seen: Seen, signal: AbortSignal): Promise<Outcome> {
    const noConfig = await adoptFirstConfig({ host, local, readConfig, reporter }, saidBy(seen).currentConfig, signal);
    watchAgain();
    return { noConfig };
  }

  async function prepare(
    { target, isForced, isPrepared, isDrained, isTold }: Extract<StepAction, { type: 'prepare' }>,
    seen: Seen,
    signal: AbortSignal,
  ): Promise<Prepared> {
    const current = local.current();
    if (current === null) throw new Error('an update starts from a config');
    if (!isTold) await tell({ phase: 'preparing', update: unknownScope(target) }, seen);
    const settings = seen.machineConfiguration?.spec;
    const prepared = await prepareUpdate(
      { current, target, settings, isForced, isPrepared, isDrained },
      {
        host,
        local,
        readConfig,
        log,
        signal,
        async pauseDrift() {
          isDriftPaused = true;
          await drift.pause();
        },
        onDownload: (plan, download) => tell({ phase: 'preparing', update: scopeOf(plan), download }, seen),
      },
    );
    if (prepared.type !== 'ready') log.warn({ problem: prepared.problem }, 'an update is not begun');
    if (prepared.type === 'refused' && prepared.cause === 'download') metrics.osUpdateFailed();
    return prepared;
  }

  async function onStep({ step, text }: UpdateStep): Promise<void> {
    log.info({ step }, text);
    const undone = { code: 'SLW_DAEMON_STEP', message: text, state: 'Degraded', undo: 'under way' } as const;
    const telling = tell({ phase: PHASES[step], problem: step === 'rolling back' ? undone : null }, null);
    const enough = new Promise<void>((resolve) => {
      setTimeout(resolve, STEP_REPORT_MS).unref();
    });
    await Promise.race([telling, enough]).catch((error: unknown) => {
      log.warn({ err: error }, 'the cluster could not be told of a step; the update goes on');
    });
  }

  return { step, onStep };
}
