// Checks whether an update can be applied to this machine, before a drain and before anything is touched. This is the
// only check: its result is passed to the code that applies the update.
import { findUpdateLimits, formatOSLimits, type Irreconcilable } from '@slipway/fleet';
import { type DesiredMachine, loadDesiredMachine } from '../desired-machine.ts';
import { describeDrifts, type Drift } from '../drift/drift.ts';
import type { Host } from '../host/host.ts';
import { type Problem, toProblem } from '../problem.ts';
import type { UpdateRequest } from './stage.ts';
import { type Survey, surveyUpdate } from './survey.ts';

export type Preflight = PassedPreflight | FailedPreflight;

/** Nothing is in the way. Includes the findings of the survey. */
export interface PassedPreflight {
  readonly type: 'passed';
  readonly survey: Survey;
  readonly desired: DesiredMachine;
}

export type FailedPreflight =
  /** A running machine cannot make these changes. */
  | { readonly type: 'irreconcilable'; readonly problem: Problem; readonly changes: readonly Irreconcilable[] }
  /** The machine has drifted from its current config, its OS cannot have the new one, or something on it is in the way. */
  | { readonly type: 'refused'; readonly cause: 'drift' | 'machine'; readonly problem: Problem };

export interface PreflightOptions {
  /** Lists the drift of the machine from its current config. Called before the survey. */
  readonly verify?: () => Promise<readonly Drift[]>;
}

export async function preflight(
  host: Pick<Host, 'files' | 'accounts' | 'os'>,
  { from, to, plan }: Pick<UpdateRequest, 'from' | 'to' | 'plan'>,
  { verify = async () => [] }: PreflightOptions = {},
): Promise<Preflight> {
  const { irreconcilable: changes } = plan;
  const [change, ...otherChanges] = changes;
  try {
    const limits = findUpdateLimits(plan, { current: from, desired: to }, await host.os.facts());
    const limit = { code: 'SLW_DAEMON_OS', message: formatOSLimits(to, limits) };
    if (change !== undefined) {
      const others = limits.length === 0 ? otherChanges : [...otherChanges, limit];
      return { type: 'irreconcilable', changes, problem: together(change, others) };
    }
    if (limits.length > 0) return { type: 'refused', cause: 'machine', problem: limit };
    const drifts = await verify();
    if (drifts.length > 0) {
      const problem = { code: 'SLW_DAEMON_DRIFT', message: describeDrifts(from.name, drifts) };
      return { type: 'refused', cause: 'drift', problem };
    }
    const desired = await loadDesiredMachine(to);
    const survey = await surveyUpdate(host, plan.changes, desired);
    const [obstacle, ...others] = survey.problems;
    if (obstacle === undefined) return { type: 'passed', survey, desired };
    return { type: 'refused', cause: 'machine', problem: together(obstacle, others) };
  } catch (error) {
    return { type: 'refused', cause: 'machine', problem: toProblem(error, `MachineConfig ${to.name}`) };
  }
}

function together({ code, message }: Problem, others: readonly Problem[]): Problem {
  return { code, message: [message, ...others.map((other) => other.message)].join('; ') };
}
