// From a request to an update that is staged, or the reason why not.
import type { FileSystem } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import { cleanUpOld } from './clean-up.ts';
import type { Journal, OpenJournal } from './journal.ts';
import { firstProblem } from './part.ts';
import { problemOf, withMore } from './problem.ts';
import { drawUp, makeUpdateDirectory, stage, type UpdateRequest } from './stage.ts';
import { surveyUpdate } from './survey.ts';
import { wantedBy } from './wanted.ts';

export type Prepared =
  | { readonly ok: true; readonly journal: OpenJournal }
  /** `isLeftOver`: what was made ready could not be removed. The machine itself is untouched. */
  | { readonly ok: false; readonly problem: Problem; readonly isLeftOver: boolean };

export async function prepare(host: Host, request: UpdateRequest, programVersion: string): Promise<Prepared> {
  const { files } = host;
  const { to, plan } = request;
  const [irreconcilable] = plan.irreconcilable;
  if (irreconcilable !== undefined) return refused(irreconcilable, plan.irreconcilable.length);
  let journal: Journal | null = null;
  try {
    const wanted = await wantedBy(to);
    const survey = await surveyUpdate(host, plan.changes, { config: to.name, wanted });
    const [problem] = survey.problems;
    if (problem !== undefined) return refused(problem, survey.problems.length);
    journal = await drawUp(host, request, survey, wanted);
    await makeUpdateDirectory(files);
    return { ok: true, journal: await stage(files, journal, survey, programVersion) };
  } catch (error) {
    const problem = problemOf(error, `making the update to ${to.name} ready`);
    return { ok: false, problem, isLeftOver: journal !== null && !(await isCleanedUp(files, journal)) };
  }
}

async function isCleanedUp(files: FileSystem, journal: Journal): Promise<boolean> {
  return (await firstProblem([{ name: 'cleaning up', act: () => cleanUpOld(files, journal) }])) === null;
}

function refused({ code, message }: Problem, count: number): Prepared {
  const problem = count === 1 ? { code, message } : withMore({ code, message }, `And ${count - 1} more`);
  return { ok: false, problem, isLeftOver: false };
}
