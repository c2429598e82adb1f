// Updates a machine from one config to another, rolls back on failure, and resumes after an interruption. The machine
// always ends exactly at the old or the new config, and the result reports which.
import { listNames } from '@slipway/base/text';
import { needsReboot, type NodeAction } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import { type Problem, toProblem, appendToProblem } from '../problem.ts';
import { STATE_DIRECTORY } from '../state-file.ts';
import type { StoredConfig } from '../stored-config.ts';
import { cleanUpNew, cleanUpOld, retire, sweep } from './clean-up.ts';
import { type Journal, type LogRecord, openJournal, type OpenJournal } from './journal.ts';
import { applyMove } from './moves.ts';
import {
  isAt,
  nextStep,
  type NextStep,
  toOldResult,
  toStuckResult,
  toStuckRollbackResult,
  type UpdateResult,
} from './recovery.ts';
import { stageUpdate, type UpdateRequest } from './stage.ts';
import { runSteps, computeMark, buildRollbackSteps, buildForwardSteps, buildActionSteps, runsOldOS } from './steps.ts';

export type { UpdateResult } from './recovery.ts';
export type { UpdateRequest } from './stage.ts';

export interface UpdateStep {
  readonly step: 'going on' | 'staged' | 'files' | 'os' | 'post action' | 'reboot' | 'verified' | 'rolling back';
  readonly text: string;
}

export interface UpdaterOptions {
  readonly host: Host;
  readonly programVersion: string;
  readonly onStep?: (step: UpdateStep) => void | Promise<void>;
  /** Differences between the machine and a config. Empty: they match. */
  readonly verify: (config: StoredConfig) => Promise<readonly { readonly message: string }[]>;
}

export interface Updater {
  apply(request: UpdateRequest): Promise<UpdateResult>;
  /** Finishes an interrupted update. */
  recover(): Promise<UpdateResult>;
}

export function createUpdater({ host, programVersion, verify, onStep = () => {} }: UpdaterOptions): Updater {
  const { files } = host;

  async function apply(request: UpdateRequest): Promise<UpdateResult> {
    const { from, to, preflight, ...rest } = request;
    const before = await recover();
    if (!isAt(before, from.name)) return before;
    // If the recovery changed the machine, the preflight result is outdated.
    const found = before.outcome === 'none' && preflight !== undefined ? { preflight } : {};
    const prepared = await stageUpdate(host, { from, to, ...rest, ...found }, programVersion);
    if (prepared.ok) {
      await reportStep({ step: 'staged', text: `staged ${prepared.journal.moves.length} changes on the disk` });
      try {
        return await rollForward(prepared.journal, 1);
      } catch (error) {
        return toStuckResult({ from, to }, toProblem(error, 'applying the update'));
      }
    }
    const { problem, isLeftOver } = prepared;
    if (isLeftOver) return toStuckResult({ from, to }, problem);
    return { outcome: 'old', config: from.name, target: to.name, problem, rebooting: false };
  }

  async function recover(): Promise<UpdateResult> {
    try {
      await sweep(files);
      const found = await openJournal(files);
      switch (found.found) {
        case 'nothing':
          return { outcome: 'none' };
        case 'beginning':
          await retire(files);
          return { outcome: 'none' };
        case 'unusable': {
          const problem = { code: 'SLW_DAEMON_JOURNAL', message: found.why };
          return { outcome: 'stuck', from: found.from, to: found.to, problem };
        }
        case 'journal':
          return await resumeUpdate(found.journal);
      }
    } catch (error) {
      return {
        outcome: 'stuck',
        from: '',
        to: '',
        problem: toProblem(error, 'reading the journal of the last update'),
      };
    }
  }

  async function resumeUpdate(journal: OpenJournal): Promise<UpdateResult> {
    const { records, program, to } = journal;
    const begunBy =
      program === programVersion ? '' : `, which version ${program} started; this is version ${programVersion}`;
    await reportStep({ step: 'going on', text: `resuming the update to ${to.name}${begunBy}` });
    try {
      const mark = journal.oldOS === null ? '' : computeMark((await host.os.state()).booted);
      const runsOld = await runsOldOS(host, journal);
      return await executeStep(journal, nextStep({ records, mark, runsOldOS: runsOld, bootId: await host.bootId() }));
    } catch (error) {
      return toStuckResult(journal, toProblem(error, 'resuming an interrupted update'));
    }
  }

  async function executeStep(journal: OpenJournal, next: NextStep): Promise<UpdateResult> {
    switch (next.step) {
      case 'discard':
        await cleanUpOld(files, journal);
        return { outcome: 'none' };
      case 'go forward':
        return rollForward(journal, next.attempt);
      case 'reboot':
        await host.reboot(`update to ${journal.to.name}`);
        return { outcome: 'rebooting', config: journal.to.name };
      case 'confirm':
        return confirm(journal);
      case 'go back':
        return rollBack(journal, next.problem);
      case 'reboot back':
        await host.reboot(`rollback to ${journal.from.name}`);
        return toOldResult(journal, next.problem, true);
      case 'give up':
        return toStuckResult(journal, next.problem);
      case 'clean up old':
        await cleanUpOld(files, journal);
        return toOldResult(journal, next.problem, false);
      case 'clean up new':
        await cleanUpNew(files, journal);
        return { outcome: 'new', config: journal.to.name };
    }
  }

  async function rollForward(journal: OpenJournal, attempt: number): Promise<UpdateResult> {
    const problem = await runSteps([
      {
        name: 'recording the start of the update',
        act: async () => journal.write({ state: 'changing', attempt, bootId: await host.bootId() }),
      },
      ...buildForwardSteps(host, journal),
    ]);
    if (problem !== null) return rollBack(journal, problem);
    await reportStep({ step: 'files', text: `the files of ${journal.to.name} are in place` });
    if (journal.oldOS !== null) await reportStep({ step: 'os', text: 'the OS is staged for the next boot' });
    return needsReboot(journal.actions) ? reboot(journal) : runPostActions(journal);
  }

  async function reboot(journal: OpenJournal): Promise<UpdateResult> {
    const { to } = journal;
    await reportStep({ step: 'reboot', text: `rebooting into ${to.name}` });
    const problem = await runSteps([
      {
        name: 'recording the reboot',
        async act() {
          const staged = journal.oldOS !== null && (await host.os.state()).staged !== null;
          await journal.write({ state: 'rebooting', bootId: await host.bootId(), staged });
        },
      },
      { name: 'rebooting', act: () => host.reboot(`update to ${to.name}`) },
    ]);
    return problem === null ? { outcome: 'rebooting', config: to.name } : rollBack(journal, problem);
  }

  async function runPostActions(journal: OpenJournal): Promise<UpdateResult> {
    const { actions } = journal;
    if (actions.length === 0) return confirm(journal);
    const problem = await runSteps([
      { name: 'recording that files are in place', act: () => journal.write({ state: 'changed' }) },
      ...buildActionSteps(host, actions),
    ]);
    if (problem !== null) return rollBack(journal, problem);
    await reportStep({ step: 'post action', text: `${actions.length} post actions are done` });
    return confirm(journal);
  }

  async function confirm(journal: OpenJournal): Promise<UpdateResult> {
    const { to, commit } = journal;
    const problem = await runSteps([
      { name: `verifying ${to.name}`, act: async () => mustBeNone(await verify(to)) },
      {
        name: 'recording the new config',
        async act() {
          await applyMove(files, commit);
          await files.syncDirectory(STATE_DIRECTORY);
          await journal.write({ state: 'done' });
        },
      },
    ]);
    if (problem !== null) return rollBack(journal, problem);
    await reportStep({ step: 'verified', text: `the machine matches ${to.name}` });
    const left = await runSteps([{ name: 'cleaning up', act: () => cleanUpNew(files, journal) }]);
    return left === null
      ? { outcome: 'new', config: to.name }
      : toStuckResult(journal, appendToProblem(left, `The machine is at ${to.name}`));
  }

  async function rollBack(journal: OpenJournal, problem: Problem): Promise<UpdateResult> {
    await reportStep({ step: 'rolling back', text: problem.message });
    const isNoted = journal.records.some(({ state }) => state === 'back');
    let hasRun = false;
    const failed = await runSteps([
      {
        name: 'recording the start of the rollback',
        act: () => (isNoted ? Promise.resolve() : journal.write({ state: 'back', problem })),
      },
      ...buildRollbackSteps(host, journal),
      {
        name: 'checking whether the new files were in use',
        async act() {
          hasRun = hasRunNewFiles(journal.records, await host.bootId());
        },
      },
    ]);
    if (failed !== null) return toStuckRollbackResult(journal, failed, problem);
    if (!hasRun) return finishRollback(journal, problem);
    if (needsReboot(journal.actions)) return rebootForRollback(journal, problem);
    return finishRollback(journal, await rerunPostActions(journal, problem));
  }

  async function rebootForRollback(journal: OpenJournal, problem: Problem): Promise<UpdateResult> {
    const failed = await runSteps([
      {
        name: 'recording the reboot of the rollback',
        async act() {
          const mark = journal.oldOS === null ? '' : computeMark((await host.os.state()).booted);
          await journal.write({ state: 'rebooting back', bootId: await host.bootId(), mark });
        },
      },
      { name: 'rebooting for the rollback', act: () => host.reboot(`rollback to ${journal.from.name}`) },
    ]);
    return failed === null ? toOldResult(journal, problem, true) : toStuckRollbackResult(journal, failed, problem);
  }

  /** Best effort: the disk is at the old config whether or not a service restarts. */
  async function rerunPostActions({ actions, units }: Journal, problem: Problem): Promise<Problem> {
    const reload: NodeAction[] = units.some(({ rewritten }) => rewritten) ? [{ type: 'DaemonReload' }] : [];
    const failures: string[] = [];
    for (const step of buildActionSteps(host, [...reload, ...actions.filter(({ type }) => type !== 'DaemonReload')])) {
      const failed = await runSteps([step]);
      if (failed !== null) failures.push(failed.message);
    }
    return failures.length === 0
      ? problem
      : appendToProblem(problem, `After the rollback, this failed too: ${failures.join('; ')}`);
  }

  async function finishRollback(journal: OpenJournal, problem: Problem): Promise<UpdateResult> {
    const left = await runSteps([
      { name: 'recording the end of the rollback', act: () => journal.write({ state: 'returned' }) },
      { name: 'cleaning up', act: () => cleanUpOld(files, journal) },
    ]);
    return left === null ? toOldResult(journal, problem, false) : toStuckRollbackResult(journal, left, problem);
  }

  /** The listener may fail, for example while the API server is down. The update continues. */
  async function reportStep(step: UpdateStep): Promise<void> {
    try {
      await onStep(step);
    } catch {
      // The listener logs its failures.
    }
  }

  return { apply, recover };
}

const MAX_REPORTED = 3;

function mustBeNone(differences: readonly { readonly message: string }[]): void {
  if (differences.length === 0) return;
  const messages = differences.map(({ message }) => message);
  const listed = listNames(messages, { max: MAX_REPORTED, separator: '; ' });
  throw new DaemonError(
    'SLW_DAEMON_VERIFY',
    `the machine does not match the config: ${listed}. Another program on the machine changed it or prevented the change; see its log`,
  );
}

/** Services, or the whole machine, have run with the new files. */
function hasRunNewFiles(records: readonly LogRecord[], bootId: string): boolean {
  const begun = records.find((record) => record.state === 'changing');
  const isBooted = begun !== undefined && begun.bootId !== bootId;
  return isBooted || records.some(({ state }) => state === 'changed');
}
