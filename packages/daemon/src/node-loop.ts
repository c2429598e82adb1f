// The node's part in the cluster: looks at what its Node object says, does the next step, and says what it has done.
import { addTolerated } from '@slipway/fleet';
import { again, done, type Log, type Next } from '@slipway/kube';
import type { UpdateResult, UpdateStep } from './apply/updater.ts';
import { decide } from './decide.ts';
import { describeDrifts } from './drift/drift.ts';
import { isForced, takeForceFile } from './drift/force-file.ts';
import type { DriftWatch } from './drift/watch-drift.ts';
import { firstConfigName } from './first-config.ts';
import type { Host } from './host/host.ts';
import type { LocalNode } from './local-node.ts';
import { type Prepared, prepareUpdate } from './prepare-update.ts';
import { type Problem, problemOf } from './problem.ts';
import type { ConfigReader } from './read-config.ts';
import type { DaemonMetrics } from './report/metrics.ts';
import type { Reporter } from './report/reporter.ts';
import { type NodeSnapshot, type Phase, scopeOf, type UpdateScope } from './report/snapshot.ts';
import { createRefusals, type Refused } from './refusal.ts';
import { canPass, nextRetry, type Retry } from './retry.ts';
import { drainFor, saidBy, type Seen, uncordonFor, wantsPodsBack } from './seen.ts';
import type { StoredConfig } from './stored-config.ts';
import { createTeller, degraded } from './teller.ts';

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

/** What depends on something outside that no watch tells of. */
const RETRY_MS = 60_000;
const RECOVER_MS = 30_000;
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

type Ended = Exclude<UpdateResult, { outcome: 'none' }>;

export function createNodeLoop(options: NodeLoopOptions): NodeLoop {
  const { host, local, readConfig, reporter, metrics, drift, log } = options;
  const { tell } = createTeller(local, reporter);
  /** What an update came to and was not dealt with yet. Null: none, or it has to be recovered first. */
  let ended: UpdateResult | null = options.recovered;
  /** The last update could not be brought to an end: the machine is neither old nor new. */
  let isUnfinished = false;
  let goesDown = false;
  let retry: Retry | null = null;
  const refusals = createRefusals(() => performance.now());

  async function step(seen: Seen, signal: AbortSignal): Promise<Next> {
    if (goesDown) return done();
    if (isUnfinished) ended = await local.recover();
    const next = ended === null || ended.outcome === 'none' ? null : await conclude(ended, seen);
    ended = null;
    if (next !== null) return next;
    const current = local.current() ?? (await findFirst(seen, signal));
    return current === null ? again(RETRY_MS) : follow(current, seen, signal);
  }

  /** Null: the machine is at one config, and the next step can be decided on. */
  async function conclude(result: Ended, seen: Seen): Promise<Next | null> {
    log.info({ result }, 'what an update came to');
    isUnfinished = result.outcome === 'stuck';
    switch (result.outcome) {
      case 'rebooting':
        goesDown = true;
        await tell({ phase: 'rebooting' }, seen);
        return done();
      case 'stuck':
        await tell({ ...degraded(result.problem), phase: 'applying files', currentConfig: null }, seen);
        return again(RECOVER_MS);
      case 'new':
        await rememberNew();
        break;
      case 'old':
        await rememberOld(result);
        if (!result.rebooting) break;
        goesDown = true;
        await tell({ phase: 'rebooting', problem: { ...result.problem, state: 'Degraded', undo: 'under way' } }, seen);
        return done();
    }
    const current = local.current();
    if (current !== null) drift.resume(current);
    return null;
  }

  async function rememberNew(): Promise<void> {
    const { failed: _failed, held: _held, willLack, ...rest } = local.memory();
    await local.remember({ ...rest, ...(willLack !== undefined && { lacks: willLack }) });
  }

  async function rememberOld({ target, problem }: Extract<Ended, { outcome: 'old' }>): Promise<void> {
    const { update: _update, failed: _failed, held: _held, willLack: _lack, ...rest } = local.memory();
    if (problem.code === 'SLW_DAEMON_OS') metrics.osUpdateFailed();
    if (canPass(problem)) retry = nextRetry(retry, target, problem, performance.now());
    await local.remember(canPass(problem) ? rest : { ...rest, failed: { target, problem } });
  }

  /** The disk does not say what it is at: as the first boot or the cluster has it, if the machine really is that. */
  async function findFirst(seen: Seen, signal: AbortSignal): Promise<StoredConfig | null> {
    try {
      const name = saidBy(seen).currentConfig ?? (await firstConfigName(host.files));
      const config = await readConfig(name, signal);
      const drifts = (await isForced(host.files)) ? [] : await local.verify(config);
      if (drifts.length === 0) {
        await local.adopt(config);
        drift.resume(config);
        return config;
      }
      const message = describeDrifts(name, drifts);
      reporter.event('OnDiskStateValidationFailed', message);
      await tell(degraded({ code: 'SLW_DAEMON_DRIFT', message }), seen);
    } catch (error) {
      await tell(degraded(problemOf(error)), seen);
    }
    return null;
  }

  async function follow(current: StoredConfig, seen: Seen, signal: AbortSignal): Promise<Next> {
    const forced = await isForced(host.files);
    const decision = decide({ current: current.name, said: saidBy(seen), memory: local.memory(), isForced: forced });
    switch (decision.type) {
      case 'stay':
        return stay(current, seen);
      case 'hold':
        return hold(current, decision.target, seen);
      case 'give up':
        return giveUp(current, local.memory().failed?.problem, seen);
      case 'update':
        return (
          (await waitToRetry(current, decision.target, forced, seen)) ??
          update({ current, target: decision.target, forced }, seen, signal)
        );
    }
  }

  /** Null: nothing is waited for. */
  async function waitToRetry(current: StoredConfig, target: string, forced: boolean, seen: Seen): Promise<Next | null> {
    if (forced || retry?.target !== target || retry.notBefore <= performance.now()) return null;
    await giveUp(current, retry.problem, seen);
    return again(retry.notBefore - performance.now());
  }

  async function stay(current: StoredConfig, seen: Seen): Promise<Next> {
    const { failed: _failed, held: _held, ...rest } = local.memory();
    await local.remember(rest);
    const message = drift.found();
    return settle(current, seen, message === '' ? {} : degraded({ code: 'SLW_DAEMON_DRIFT', message }));
  }

  /** The machine is what it should be, or was before: its pods may come back, if they were sent away. */
  async function settle(current: StoredConfig, seen: Seen, more: Partial<NodeSnapshot>): Promise<Next> {
    if (wantsPodsBack(current.name, saidBy(seen))) {
      await tell({ phase: 'uncordoning', desiredDrain: uncordonFor(current.name), ...more }, seen);
      return done();
    }
    await tell({ update: null, ...more }, seen);
    const { update: _update, ...rest } = local.memory();
    await local.remember(rest);
    return done();
  }

  async function hold(current: StoredConfig, target: string, seen: Seen): Promise<Next> {
    await local.remember({ ...local.memory(), held: target });
    const message =
      `the disk of this machine is at ${current.name}, but the cluster asked for ${target} without knowing that: it was ` +
      'probably restored from an older state. Nothing is changed. Let the node have another target than that one, or ' +
      'create /run/machine-config-daemon-force on the machine to go there all the same';
    log.warn({ current: current.name, target }, 'the cluster knows less of this machine than its disk');
    await tell(degraded({ code: 'SLW_DAEMON_CLUSTER_OLDER', message }), seen);
    return done();
  }

  /** For now, or until somebody says otherwise. */
  async function giveUp(current: StoredConfig, problem: Problem | undefined, seen: Seen): Promise<Next> {
    if (problem === undefined) return done();
    return settle(current, seen, { problem: { ...problem, state: 'Degraded', undo: 'done' } });
  }

  interface Wanted {
    readonly current: StoredConfig;
    readonly target: string;
    readonly forced: boolean;
  }

  async function update({ current, target, forced }: Wanted, seen: Seen, signal: AbortSignal): Promise<Next> {
    const prepared = await prepare({ current, target, forced }, seen, signal);
    if (prepared.type !== 'ready') return refuse(prepared, target, seen);
    await local.remember({ ...local.memory(), update: scopeOf(prepared.plan) });
    const lacks = addTolerated(local.memory().lacks ?? [], prepared.plan.tolerated);
    if (prepared.plan.isEmpty) {
      // Nothing differs for the machine: only annotations move.
      await local.adopt(prepared.target);
      await local.remember({ ...local.memory(), lacks });
      drift.resume(prepared.target);
      return stay(prepared.target, seen);
    }
    const { lastAppliedDrain, drainBlocked } = saidBy(seen);
    if (prepared.plan.needsDrain && lastAppliedDrain !== drainFor(target)) {
      await tell({ phase: 'draining', desiredDrain: drainFor(target), drainBlocked }, seen);
      return done();
    }
    await local.remember({ ...local.memory(), willLack: lacks });
    await drift.pause();
    if (forced) await takeForceFile(host.files);
    ended = await local.update(prepared.target, prepared.plan);
    // What it came to is dealt with in the next step, which looks at the Node anew.
    return again(0);
  }

  async function prepare({ current, target, forced }: Wanted, seen: Seen, signal: AbortSignal): Promise<Prepared> {
    const settings = seen.machineConfiguration?.spec;
    const question = JSON.stringify([current.name, target, forced, settings ?? null]);
    const answer = refusals.answerTo(question);
    if (answer !== null) return answer;
    const isPrepared = local.memory().update?.target === target;
    if (!isPrepared && !refusals.isKnown(question)) {
      await tell({ phase: 'preparing', update: unknownScope(target) }, seen);
    }
    const prepared = await prepareUpdate(
      { current, target, settings, isForced: forced, isPrepared },
      {
        host,
        local,
        readConfig,
        log,
        signal,
        onDownload: (plan, download) => tell({ phase: 'preparing', update: scopeOf(plan), download }, seen),
      },
    );
    refusals.note(question, prepared);
    if (prepared.type !== 'ready') log.warn({ problem: prepared.problem }, 'an update is not begun');
    if (prepared.type === 'refused' && prepared.cause === 'download') metrics.osUpdateFailed();
    return prepared;
  }

  async function refuse(prepared: Refused, target: string, seen: Seen): Promise<Next> {
    const state = { phase: 'preparing', update: unknownScope(target) } as const;
    if (prepared.type === 'irreconcilable') {
      const problem = { ...prepared.problem, state: 'Unreconcilable' } as const;
      await tell({ ...state, problem, irreconcilable: prepared.changes }, seen);
      return done();
    }
    await tell({ ...state, ...degraded(prepared.problem) }, seen);
    return again(RETRY_MS);
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

const unknownScope = (target: string): UpdateScope => ({
  target,
  drain: false,
  os: false,
  image: false,
  reboot: false,
  postAction: '',
});
