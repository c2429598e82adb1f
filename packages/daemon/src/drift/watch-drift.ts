// Keeps an eye on the machine: drift is told within two seconds, and put back where the policy says so.
import { type Clock, systemClock } from '@slipway/base/clock';
import { listNames, truncate } from '@slipway/base/text';
import type { Log } from '@slipway/kube';
import { CORE, loadDesiredMachine } from '../desired-machine.ts';
import type { Host } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';
import { readBaseline } from './baseline.ts';
import { describeDrifts, type Drift, buildItemKey, sanitizeName } from './drift.ts';
import { heal, type HealProblem } from './heal.ts';
import { createHealingHistory, decideHealing, type DriftPolicy, HEALS_WITHIN_MS, LEAVE, MAX_HEALS } from './healing.ts';
import { verifyMachine } from './verify-machine.ts';
import { createVerifyMemory } from './verify-memory.ts';
import { createWatches, type DirectoryWatcher, type WatchScope, buildWatchScope, type EventImpact } from './watches.ts';

export interface DriftWatchOptions {
  readonly host: Host;
  readonly watcher: DirectoryWatcher;
  /** What the machine is to be like. Absent: it waits for `resume`. */
  readonly config?: StoredConfig;
  readonly policy?: DriftPolicy;
  /** After the first check, and whenever something else was found or done than the last time. */
  readonly onDrift: (report: DriftReport) => void | Promise<void>;
  readonly log: Log;
  readonly clock?: Pick<Clock, 'now' | 'setTimer'>;
}

export interface DriftWatch {
  /** Resolves when nothing is read or written any more: an update may begin, and its changes are no drift. */
  pause(): Promise<void>;
  /** The machine has this config from now on. Everything is checked at once. */
  resume(config: StoredConfig): void;
  setPolicy(policy: DriftPolicy): void;
  close(): Promise<void>;
}

/** What a check has found and done, for who tells it to people. */
export interface DriftReport {
  /** The name of the config that the machine was compared with. */
  readonly config: string;
  /** What is not as it should be. None: the machine is as its config says. */
  readonly drifts: readonly Drift[];
  /** What was just put back. */
  readonly healed: readonly Drift[];
  /** Those of `drifts` that are put back no more, since they do not stay so. */
  readonly givenUp: readonly Drift[];
  /** What could not be put back, and why. */
  readonly problems: readonly HealProblem[];
  /** All of it for people, in at most a thousand characters. */
  readonly text: string;
}

/** Several changes that belong together, such as those of an editor, are looked at once. */
const SETTLE_MS = 200;

/** A check takes at most a tenth of the time, whoever writes how often; but drift is found within two seconds. */
const REST = 9;
const MAX_GAP_MS = 500;

/**
 * Notices can be lost when very many come at once, and a directory behind a link may be replaced unseen; so everything is
 * looked at from time to time. Five minutes cost less than a thousandth of a core.
 */
const FULL_CHECK_MS = 5 * 60_000;

/** Where the operating system gives no watches. */
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
  /** Something came while a check was under way, which may have been past it. */
  let isDue = false;
  let timer: { readonly at: number; cancel(): void } | null = null;
  let notBefore = 0;

  function notice(impact: EventImpact): void {
    if (!impact.check) return;
    if (impact.path !== null) memory.forget(impact.path);
    if (impact.units) memory.forgetUnits();
    // Two at different places: all of them, which is rare and costs little.
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
      log.error(
        { err: error, config: current.name },
        'drift of the machine could not be looked for or told; trying again in 30 seconds',
      );
      schedule(AFTER_ERROR_MS);
    }
  }

  /** Watches come before the check: what happens after it is then not missed. */
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
    // An update waits: whatever is not right is its business now.
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
    history.noteHeals(drifts, clock.now());
    memory.forgetUnits();
    for (const { name } of drifts) memory.forget(name);
    const left = await verifyMachine(host, current, { memory });
    history.noteDrifts(left, clock.now());
    // More may be possible now, such as to enable a unit whose file is there again. What failed waits for the next look.
    if (problems.length === 0 && left.length > 0) schedule(SETTLE_MS);
    return { drifts: left, problems };
  }

  async function publishReport(report: DriftReport): Promise<void> {
    const { drifts, healed } = report;
    const now = JSON.stringify([report.config, drifts, report.givenUp, report.problems]);
    if (now === lastReported && healed.length === 0) return;
    if (report.text !== '')
      log.warn({ config: report.config, diffs: selectDiffs([...drifts, ...healed]) }, report.text);
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
  'The operating system gives no more watches on directories, so the machine is looked at every 2 seconds, which costs ' +
  'more. Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances, or stop what uses them';

/** Files that the config's users are in; it does not name them by path. */
async function listAccountFiles({ accounts }: Host): Promise<string[]> {
  const home = (await accounts.home(CORE))?.path;
  const keys = home === undefined ? [] : [`${home}/.ssh/authorized_keys.d/ignition`, `${home}/.ssh/authorized_keys`];
  return ['/etc/shadow', ...keys];
}

/** A line of a log is not the place for more. */
const MAX_LOGGED_DIFFS = 5;

function selectDiffs(drifts: readonly Drift[]): string[] {
  const diffs = drifts.map(({ diff }) => diff).filter((diff) => diff !== '');
  return diffs.slice(0, MAX_LOGGED_DIFFS);
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
  const tries = `${MAX_HEALS} tries within ${HEALS_WITHIN_MS / 60_000} minutes`;
  return `${sanitizeName(name)} does not stay as the config says after ${tries} to put it back: another program of this machine changes it, or it cannot be written. It is left as it is until the daemon starts again or the config changes; stop that program, or take this out of the MachineConfigs`;
}

function describeHealed(config: string, healed: readonly Drift[]): string {
  if (healed.length === 0) return '';
  const names = [...new Set(healed.map(({ name }) => sanitizeName(name)))];
  return `Put back as ${config} says: ${listNames(names, { max: 5 })}`;
}
