// Watches the machine for drift: reports it within two seconds, and heals it if the policy allows.
import { type Clock, systemClock } from '@slipway/base/clock';
import { listNames, truncate } from '@slipway/base/text';
import type { Log } from '@slipway/kube';
import { CORE, loadDesiredMachine } from '../desired-machine.ts';
import type { Host } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';
import { readBaseline } from './baseline.ts';
import { describeDrifts, type Drift, buildItemKey, sanitizeName } from './drift.ts';
import { heal, type HealProblem } from './heal.ts';
import {
  createHealingHistory,
  decideHealing,
  type DriftPolicy,
  HEALS_WITHIN_MS,
  LEAVE,
  MAX_HEALS,
  REFUSED_MS,
} from './healing.ts';
import { verifyMachine } from './verify-machine.ts';
import { createVerifyMemory } from './verify-memory.ts';
import { createWatches, type DirectoryWatcher, type WatchScope, buildWatchScope, type EventImpact } from './watches.ts';

export interface DriftWatchOptions {
  readonly host: Host;
  readonly watcher: DirectoryWatcher;
  /** The desired config. Absent: wait for `resume`. */
  readonly config?: StoredConfig;
  readonly policy?: DriftPolicy;
  /** Called after the first check, and whenever the result differs from the last one. */
  readonly onDrift: (report: DriftReport) => void | Promise<void>;
  readonly log: Log;
  readonly clock?: Pick<Clock, 'now' | 'setTimer'>;
}

export interface DriftWatch {
  /** Resolves when no read or write is in progress. An update may then start, and its changes are not drift. */
  pause(): Promise<void>;
  /** The machine is at this config now. Everything is checked immediately. */
  resume(config: StoredConfig): void;
  setPolicy(policy: DriftPolicy): void;
  close(): Promise<void>;
}

/** The result of a check. */
export interface DriftReport {
  /** The config that the machine was compared with. */
  readonly config: string;
  /** Differences from the config. Empty: the machine matches. */
  readonly drifts: readonly Drift[];
  /** What was just reverted. */
  readonly healed: readonly Drift[];
  /** The `drifts` that are no longer healed, because another program keeps changing them. */
  readonly givenUp: readonly Drift[];
  /** What could not be reverted, and why. */
  readonly problems: readonly HealProblem[];
  /** A human-readable summary of at most a thousand characters. */
  readonly text: string;
}

/** Changes that belong together, such as those of an editor, are checked together. */
const SETTLE_MS = 200;

/** Checks take at most a tenth of the time however often files change, and drift is still found within two seconds. */
const REST = 9;
const MAX_GAP_MS = 500;

/**
 * inotify can drop events under load, and a directory behind a link can be replaced unnoticed, so everything is checked
 * periodically. Every five minutes costs less than a thousandth of a core.
 */
const FULL_CHECK_MS = 5 * 60_000;

/** The interval of checks if the operating system provides no watches. */
const WITHOUT_WATCHES_MS = 2000;
const AFTER_ERROR_MS = 30_000;

export function watchDrift(options: DriftWatchOptions): DriftWatch {
  const { host, log, clock = systemClock, onDrift } = options;
  const memory = createVerifyMemory();
  const history = createHealingHistory();
  const watches = createWatches(host.files, options.watcher, notice);
  let config: StoredConfig | null = null;
  let policy = options.policy ?? LEAVE;
  let scope: WatchScope | null = null;
  let isBlind = false;
  let rewatch: string | null = null;
  let fullCheckAt = 0;
  let lastReported = '';
  let running: Promise<void> | null = null;
  /** An event arrived during a check, possibly too late for it. */
  let isDue = false;
  let timer: { readonly at: number; cancel(): void } | null = null;
  let notBefore = 0;

  function notice(impact: EventImpact): void {
    if (!impact.check) return;
    if (impact.path !== null) memory.forget(impact.path);
    if (impact.units) memory.forgetUnits();
    // Two different directories: renew all watches, which is rare and cheap.
    if (impact.rewatch !== null) rewatch = rewatch === null || rewatch === impact.rewatch ? impact.rewatch : '/';
    schedule(SETTLE_MS);
  }

  function schedule(ms: number): void {
    if (config === null) return;
    const now = clock.now();
    const at = Math.max(now + ms, notBefore);
    if (timer !== null && timer.at <= at) return;
    timer?.cancel();
    timer = { at, cancel: clock.setTimer(at - now, start) };
  }

  function start(): void {
    timer = null;
    if (config === null) return;
    if (running !== null) {
      isDue = true;
      return;
    }
    const since = clock.now();
    running = runRound(config).finally(() => {
      const now = clock.now();
      running = null;
      notBefore = now + Math.min(REST * (now - since), MAX_GAP_MS);
      if (isDue) schedule(0);
      isDue = false;
    });
    void running;
  }

  async function runRound(current: StoredConfig): Promise<void> {
    try {
      await prepare(current);
      const report = await check(current);
      if (report !== null) await publishReport(report);
      schedule(Math.max(0, fullCheckAt - clock.now()));
      if (isBlind) schedule(WITHOUT_WATCHES_MS);
    } catch (error) {
      log.error({ err: error, config: current.name }, 'could not check for drift or report it; retrying in 30 seconds');
      schedule(AFTER_ERROR_MS);
    }
  }

  /** Watches are set before the check, so that no later change is missed. */
  async function prepare(current: StoredConfig): Promise<void> {
    if (clock.now() >= fullCheckAt) {
      memory.forgetUnits();
      scope = buildWatchScope(
        await loadDesiredMachine(current),
        await readBaseline(host.files),
        await listAccountFiles(host),
      );
      rewatch = '/';
      fullCheckAt = clock.now() + FULL_CHECK_MS;
    }
    if (scope === null || rewatch === null) return;
    const at = rewatch;
    rewatch = null;
    try {
      await watches.renew(scope, at);
      isBlind = false;
    } catch (error) {
      watches.close();
      if (!isBlind) log.warn({ err: error }, NO_WATCHES_WARNING);
      isBlind = true;
    }
  }

  async function check(current: StoredConfig): Promise<DriftReport | null> {
    const found = await verifyMachine(host, current, { memory });
    const now = clock.now();
    history.noteDrifts(found, now);
    const decision = decideHealing({ ...history, policy, drifts: found, now });
    history.noteGivenUp(decision.giveUp);
    if (decision.waitMs !== null) schedule(decision.waitMs);
    // An update is waiting and handles the differences.
    if (config !== current) return null;
    const { drifts, problems } =
      decision.heal.length === 0 ? { drifts: found, problems: [] } : await healDrifts(current, decision.heal);
    const left = new Set(drifts.map(buildItemKey));
    return buildReport({
      config: current.name,
      drifts,
      healed: decision.heal.filter((drift) => !left.has(buildItemKey(drift))),
      givenUp: drifts.filter((drift) => history.givenUp.has(buildItemKey(drift))),
      problems,
    });
  }

  async function healDrifts(current: StoredConfig, drifts: readonly Drift[]) {
    const problems = await heal(host, current, drifts);
    const refused = problems.filter(({ isDiskFailure }) => isDiskFailure).map(({ drift }) => drift);
    history.noteHeals(drifts, refused, clock.now());
    if (refused.length > 0) schedule(REFUSED_MS);
    memory.forgetUnits();
    for (const { name } of drifts) memory.forget(name);
    const left = await verifyMachine(host, current, { memory });
    history.noteDrifts(left, clock.now());
    // More can be healed now, for example a unit whose file was just restored. Failures wait for the next check.
    if (problems.length === 0 && left.length > 0) schedule(SETTLE_MS);
    return { drifts: left, problems };
  }

  async function publishReport(report: DriftReport): Promise<void> {
    const { drifts, healed } = report;
    const now = JSON.stringify([report.config, drifts, report.givenUp, report.problems]);
    if (now === lastReported && healed.length === 0) return;
    if (report.text !== '') {
      log.warn({ config: report.config }, report.text);
      const diffs = selectDiffs([...drifts, ...healed]);
      if (diffs.length > 0) await host.details.keep(`Differences from ${report.config}:`, diffs.join('\n'));
    }
    await onDrift(report);
    lastReported = now;
  }

  function resume(next: StoredConfig): void {
    if (config?.name !== next.name) history.clear();
    config = next;
    lastReported = '';
    fullCheckAt = 0;
    schedule(0);
  }

  async function pause(): Promise<void> {
    config = null;
    timer?.cancel();
    timer = null;
    await running;
    watches.close();
  }

  if (options.config !== undefined) resume(options.config);
  return {
    pause,
    resume,
    setPolicy(next) {
      policy = next;
      schedule(0);
    },
    close: pause,
  };
}

const NO_WATCHES_WARNING =
  'No more inotify watches are available, so the daemon checks the machine every 2 seconds, which costs more CPU. ' +
  'Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances, or stop the programs that use them';

/** Account files that the config affects without naming their paths. */
async function listAccountFiles({ accounts }: Host): Promise<string[]> {
  const home = (await accounts.home(CORE))?.path;
  const keys = home === undefined ? [] : [`${home}/.ssh/authorized_keys.d/ignition`, `${home}/.ssh/authorized_keys`];
  return ['/etc/shadow', ...keys];
}

const MAX_KEPT_DIFFS = 5;

function selectDiffs(drifts: readonly Drift[]): string[] {
  const diffs = drifts.map(({ diff }) => diff).filter((diff) => diff !== '');
  return diffs.slice(0, MAX_KEPT_DIFFS);
}

const MAX_REPORT_CHARS = 1000;

function buildReport(parts: Omit<DriftReport, 'text'>): DriftReport {
  const { config, drifts, healed, givenUp, problems } = parts;
  const sentences = [
    ...givenUp.slice(0, 1).map(describeGivenUp),
    ...problems.slice(0, 1).map(({ message }) => message),
    describeDrifts(config, drifts),
    describeHealed(config, healed),
  ];
  const text = sentences.filter((sentence) => sentence !== '').join('. ');
  return { ...parts, text: truncate(text, MAX_REPORT_CHARS) };
}

function describeGivenUp({ name }: Drift): string {
  const tries = `${MAX_HEALS} attempts within ${HEALS_WITHIN_MS / 60_000} minutes`;
  return `${sanitizeName(name)} still differs from the config after ${tries} to revert it: another program on this machine changes it, or it cannot be written. The daemon stops reverting it until the daemon restarts or the config changes. Stop that program, or remove this item from the MachineConfigs`;
}

function describeHealed(config: string, healed: readonly Drift[]): string {
  if (healed.length === 0) return '';
  const names = [...new Set(healed.map(({ name }) => sanitizeName(name)))];
  return `Reverted to ${config}: ${listNames(names, { max: 5 })}`;
}
