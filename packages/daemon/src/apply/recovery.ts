// The result of an update, and the next step of an interrupted one: decided from its log and the machine's current
// state.
import { type Problem, appendToProblem } from '../problem.ts';
import type { Journal, LogRecord } from './journal.ts';

export type UpdateResult =
  /** recover(): no update was in progress, or it had not changed the machine yet. */
  | { readonly outcome: 'none' }
  /** The machine was verified to match it, and `currentconfig` names it. */
  | { readonly outcome: 'new'; readonly config: string }
  /** The process ends when the machine goes down. */
  | { readonly outcome: 'rebooting'; readonly config: string }
  | {
      readonly outcome: 'old';
      readonly config: string;
      readonly target: string;
      readonly problem: Problem;
      readonly rebooting: boolean;
    }
  /** The update can neither continue nor roll back now. recover() tries again. Names are '' if they cannot be read. */
  | { readonly outcome: 'stuck'; readonly from: string; readonly to: string; readonly problem: Problem };

/** The machine is at this config, and no reboot is pending. */
export function isAt(result: UpdateResult, config: string): boolean {
  if (result.outcome === 'none') return true;
  if (result.outcome === 'old') return result.config === config && !result.rebooting;
  return result.outcome === 'new' && result.config === config;
}

type ConfigNames = Pick<Journal, 'from' | 'to'>;

export function toOldResult({ from, to }: ConfigNames, problem: Problem, rebooting: boolean): UpdateResult {
  return { outcome: 'old', config: from.name, target: to.name, problem, rebooting };
}

export function toStuckResult({ from, to }: ConfigNames, problem: Problem): UpdateResult {
  return { outcome: 'stuck', from: from.name, to: to.name, problem };
}

export function toStuckRollbackResult(names: ConfigNames, failed: Problem, cause: Problem): UpdateResult {
  return toStuckResult(
    names,
    appendToProblem(failed, `The rollback was in progress because the update had failed: ${cause.message}`),
  );
}

export interface InterruptedUpdate {
  readonly records: readonly LogRecord[];
  readonly bootId: string;
  /** The update changes the OS, and the machine still runs the previous one. */
  readonly runsOldOS: boolean;
  /** The OS deployment that the machine runs. */
  readonly mark: string;
}

export type NextStep =
  /** Nothing was changed on the machine yet: staged files are removed. */
  | { readonly step: 'discard' }
  | { readonly step: 'go forward'; readonly attempt: number }
  | { readonly step: 'reboot' }
  /** The machine booted into the new config and must be verified. */
  | { readonly step: 'confirm' }
  | { readonly step: 'go back'; readonly problem: Problem }
  | { readonly step: 'reboot back'; readonly problem: Problem }
  | { readonly step: 'give up'; readonly problem: Problem }
  /** The machine is at the old config again. Only the backups are left to remove. */
  | { readonly step: 'clean up old'; readonly problem: Problem }
  | { readonly step: 'clean up new' };

/**
 * After more interruptions than this, the update itself probably crashes the daemon, and further attempts do not help.
 */
export const MAX_RESUMPTIONS = 3;

export function nextStep(now: InterruptedUpdate): NextStep {
  const last = now.records.at(-1);
  switch (last?.state) {
    case undefined:
      return { step: 'discard' };
    case 'changing':
    case 'changed':
      return resume(now.records);
    case 'rebooting':
      return afterReboot(last, now);
    case 'back':
      return { step: 'go back', problem: last.problem };
    case 'rebooting back':
      return afterRebootBack(last, now);
    case 'returned':
      return { step: 'clean up old', problem: findRecordedProblem(now.records) };
    case 'done':
      return { step: 'clean up new' };
  }
}

function resume(records: readonly LogRecord[]): NextStep {
  const attempts = records.filter(({ state }) => state === 'changing').length;
  if (attempts <= MAX_RESUMPTIONS) return { step: 'go forward', attempt: attempts + 1 };
  const message =
    records.at(-1)?.state === 'rebooting'
      ? `the machine booted ${attempts} times into its old OS although another one was staged, and the update was rolled back. Find the reason with journalctl -b -1 -u ostree-finalize-staged.service; often /boot is full`
      : `the update was interrupted ${attempts} times, by crashes of the daemon or power cuts, and was rolled back. See the logs of the daemon and the kernel (journalctl -k). Then assign another config to the node, or force this one`;
  return { step: 'go back', problem: { code: 'SLW_DAEMON_INTERRUPTED', message } };
}

function afterReboot({ bootId, staged }: Logged<'rebooting'>, now: InterruptedUpdate): NextStep {
  if (bootId === now.bootId) return { step: 'reboot' };
  // The power was cut before a clean shutdown, and the staged deployment was lost with it.
  return staged && now.runsOldOS ? resume(now.records) : { step: 'confirm' };
}

type Logged<State> = Extract<LogRecord, { state: State }>;

function afterRebootBack({ bootId, mark }: Logged<'rebooting back'>, now: InterruptedUpdate): NextStep {
  const problem = findRecordedProblem(now.records);
  if (bootId === now.bootId) return { step: 'reboot back', problem };
  if (now.runsOldOS || mark !== now.mark || mark === '') return { step: 'clean up old', problem };
  const tries = now.records.filter(({ state }) => state === 'rebooting back').length;
  return tries <= MAX_RESUMPTIONS ? { step: 'go back', problem } : { step: 'give up', problem };
}

function findRecordedProblem(records: readonly LogRecord[]): Problem {
  const back = records.findLast((record) => record.state === 'back');
  return (
    back?.problem ?? {
      code: 'SLW_DAEMON_JOURNAL',
      message: 'the update was rolled back, but its log does not contain the reason',
    }
  );
}
