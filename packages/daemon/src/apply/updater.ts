// Brings a machine from one config to another, or back, and goes on where it was cut off. Whatever happens, the machine ends
// exactly old or exactly new, and the result says which.
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
  /** Differences between the machine and a config; none: it is exactly that. */
  readonly verify: (config: StoredConfig) => Promise<readonly { readonly message: string }[]>;
}

export interface Updater {
  apply(request: UpdateRequest): Promise<UpdateResult>;
  /** Ends what an earlier run was cut off in. */
  recover(): Promise<UpdateResult>;
}

export function createUpdater({ host, programVersion, verify, onStep = () => {} }: UpdaterOptions): Updater {
  const { files } = host;

  async function apply(request: UpdateRequest): Promise<UpdateResult> {
    const { from, to, preflight, ...rest } = request;
    const before = await recover();
    if (!isAt(before, from.name)) return before;
    // What was found before a recovery that changed something says nothing of the machine after it.
    const found = before.outcome === 'none' && preflight !== undefined ? { preflight } : {};
    const prepared = await stageUpdate(host, { from, to, ...rest, ...found }, programVersion);
    if (prepared.ok) {
      await reportStep({ step: 'staged', text: `${prepared.journal.moves.length} changes of the disk are ready` });
      try {
        return await rollForward(prepared.journal, 1);
      } catch (error) {
        return toStuckResult({ from, to }, toProblem(error, 'carrying out the update'));
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
      return { outcome: 'stuck', from: '', to: '', problem: toProblem(error, 'reading the record of the last update') };
    }
  }

  async function resumeUpdate(journal: OpenJournal): Promise<UpdateResult> {
    const { records, program, to } = journal;
    const begunBy =
      program === programVersion ? '' : `, which version ${program} of the program began; this is ${programVersion}`;
    await reportStep({ step: 'going on', text: `going on with the update to ${to.name}${begunBy}` });
    try {
      const mark = journal.oldOS === null ? '' : computeMark((await host.os.state()).booted);
      const runsOld = await runsOldOS(host, journal);
      return await executeStep(journal, nextStep({ records, mark, runsOldOS: runsOld, bootId: await host.bootId() }));
    } catch (error) {
      return toStuckResult(journal, toProblem(error, 'going on with an update that was cut off'));
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
        await host.reboot(`back to ${journal.from.name}`);
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
        name: 'noting that the update begins',
        act: async () => journal.write({ state: 'changing', attempt, bootId: await host.bootId() }),
      },
      ...buildForwardSteps(host, journal),
    ]);
    if (problem !== null) return rollBack(journal, problem);
    await reportStep({ step: 'files', text: `the disk is as ${journal.to.name} has it` });
    if (journal.oldOS !== null) await reportStep({ step: 'os', text: 'the OS is staged for the next boot' });
    return needsReboot(journal.actions) ? reboot(journal) : runPostActions(journal);
  }

  async function reboot(journal: OpenJournal): Promise<UpdateResult> {
    const { to } = journal;
    await reportStep({ step: 'reboot', text: `the machine reboots into ${to.name}` });
    const problem = await runSteps([
      {
        name: 'noting that the machine reboots',
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
      { name: 'noting that services are told', act: () => journal.write({ state: 'changed' }) },
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
        name: 'noting the new config',
        async act() {
          await applyMove(files, commit);
          await files.syncDirectory(STATE_DIRECTORY);
          await journal.write({ state: 'done' });
        },
      },
    ]);
    if (problem !== null) return rollBack(journal, problem);
    await reportStep({ step: 'verified', text: `the machine is exactly as ${to.name} has it` });
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
        name: 'noting that the update is taken back',
        act: () => (isNoted ? Promise.resolve() : journal.write({ state: 'back', problem })),
      },
      ...buildRollbackSteps(host, journal),
      {
        name: 'finding out what has run with the new files',
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
        name: 'noting that the machine reboots back',
        async act() {
          const mark = journal.oldOS === null ? '' : computeMark((await host.os.state()).booted);
          await journal.write({ state: 'rebooting back', bootId: await host.bootId(), mark });
        },
      },
      { name: 'rebooting back', act: () => host.reboot(`back to ${journal.from.name}`) },
    ]);
    return failed === null ? toOldResult(journal, problem, true) : toStuckRollbackResult(journal, failed, problem);
  }

  /** As good as it can be done: the disk is old whether or not a service takes it. */
  async function rerunPostActions({ actions, units }: Journal, problem: Problem): Promise<Problem> {
    const reload: NodeAction[] = units.some(({ rewritten }) => rewritten) ? [{ type: 'DaemonReload' }] : [];
    const failures: string[] = [];
    for (const step of buildActionSteps(host, [...reload, ...actions.filter(({ type }) => type !== 'DaemonReload')])) {
      const failed = await runSteps([step]);
      if (failed !== null) failures.push(failed.message);
    }
    return failures.length === 0
      ? problem
      : appendToProblem(problem, `With the old files back, too: ${failures.join('; ')}`);
  }

  async function finishRollback(journal: OpenJournal, problem: Problem): Promise<UpdateResult> {
    const left = await runSteps([
      { name: 'noting that the machine is back', act: () => journal.write({ state: 'returned' }) },
      { name: 'cleaning up', act: () => cleanUpOld(files, journal) },
    ]);
    return left === null ? toOldResult(journal, problem, false) : toStuckRollbackResult(journal, left, problem);
  }

  /** Whoever listens may fail, the API may be away: the update goes on. */
  async function reportStep(step: UpdateStep): Promise<void> {
    try {
      await onStep(step);
    } catch {
      // Told by who listens.
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
    `the machine is not what the config says: ${listed}. Something else on the machine writes there, or refused it: see its log`,
  );
}

/** Services, or the whole machine, have run with the new files. */
function hasRunNewFiles(records: readonly LogRecord[], bootId: string): boolean {
  const begun = records.find((record) => record.state === 'changing');
  const isBooted = begun !== undefined && begun.bootId !== bootId;
  return isBooted || records.some(({ state }) => state === 'changed');
}
