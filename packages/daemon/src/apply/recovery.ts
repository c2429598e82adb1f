// How an update ended, or where one goes on that was cut off: decided from what its log says and from the machine as it is now.
import { type Problem, appendToProblem } from '../problem.ts';
import type { Journal, LogRecord } from './journal.ts';

export type UpdateResult =
  /** recover(): nothing was under way, or nothing of the machine was changed yet. */
  | { readonly outcome: 'none' }
  /** The machine is exactly at it, verified, and `currentconfig` says so. */
  | { readonly outcome: 'new'; readonly config: string }
  /** The process will end with the machine. */
  | { readonly outcome: 'rebooting'; readonly config: string }
  | {
      readonly outcome: 'old';
      readonly config: string;
      readonly target: string;
      readonly problem: Problem;
      readonly rebooting: boolean;
    }
  /** Neither way can be gone on now; recover() tries again. Names are '' where even those are not to be read. */
  | { readonly outcome: 'stuck'; readonly from: string; readonly to: string; readonly problem: Problem };

/** The machine is settled, and at this config. */
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
    appendToProblem(failed, `The update was on its way back, since this had failed: ${cause.message}`),
  );
}

export interface InterruptedUpdate {
  readonly records: readonly LogRecord[];
  readonly bootId: string;
  /** The update changes the OS, and the machine runs the one that it had before. */
  readonly runsOldOS: boolean;
  /** The deployment of the OS that the machine runs. */
  readonly mark: string;
}

export type NextStep =
  /** Nothing of the machine was changed yet: what was made ready is removed. */
  | { readonly step: 'discard' }
  | { readonly step: 'go forward'; readonly attempt: number }
  | { readonly step: 'reboot' }
  /** The machine was booted into the new: is it what it should be? */
  | { readonly step: 'confirm' }
  | { readonly step: 'go back'; readonly problem: Problem }
  | { readonly step: 'reboot back'; readonly problem: Problem }
  | { readonly step: 'give up'; readonly problem: Problem }
  /** The machine is old again, all but what was kept for that. */
  | { readonly step: 'clean up old'; readonly problem: Problem }
  | { readonly step: 'clean up new' };

/** After a first try: then something about this update ends the daemon, and more tries will not help. */
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
      ? `the machine booted ${attempts} times with its old OS, though another one was staged, and the update was taken back. Why it was not taken is in the log of the boot before: journalctl -b -1 -u ostree-finalize-staged.service; often /boot is full`
      : `the update was cut off ${attempts} times, by a crash of the daemon or the power, and was taken back. What ended it is in the log of the daemon and of the kernel (journalctl -k); then let the node have another target, or force this one`;
  return { step: 'go back', problem: { code: 'SLW_DAEMON_INTERRUPTED', message } };
}

function afterReboot({ bootId, staged }: Logged<'rebooting'>, now: InterruptedUpdate): NextStep {
  if (bootId === now.bootId) return { step: 'reboot' };
  // The power was cut before the machine was down in order, and with it went what was staged.
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
    back?.problem ?? { code: 'SLW_DAEMON_JOURNAL', message: 'the log of the update does not say why it went back' }
  );
}
