// From a request to an update that is staged, or the reason why not.
import type { FileSystem } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import { cleanUpOld } from './clean-up.ts';
import type { Journal, OpenJournal } from './journal.ts';
import { firstProblem } from './part.ts';
import { preflight } from './preflight.ts';
import { problemOf } from './problem.ts';
import { drawUp, makeUpdateDirectory, stage, type UpdateRequest } from './stage.ts';

export type Prepared =
  | { readonly ok: true; readonly journal: OpenJournal }
  /** `isLeftOver`: what was made ready could not be removed. The machine itself is untouched. */
  | { readonly ok: false; readonly problem: Problem; readonly isLeftOver: boolean };

export async function prepare(host: Host, request: UpdateRequest, programVersion: string): Promise<Prepared> {
  const { files } = host;
  const found = request.preflight ?? (await preflight(host, request));
  if (found.type !== 'passed') return { ok: false, problem: found.problem, isLeftOver: false };
  let journal: Journal | null = null;
  try {
    journal = await drawUp(host, request, found);
    await makeUpdateDirectory(files);
    return { ok: true, journal: await stage(files, journal, found.survey, programVersion) };
  } catch (error) {
    const problem = problemOf(error, `making the update to ${request.to.name} ready`);
    return { ok: false, problem, isLeftOver: journal !== null && !(await isCleanedUp(files, journal)) };
  }
}

async function isCleanedUp(files: FileSystem, journal: Journal): Promise<boolean> {
  return (await firstProblem([{ name: 'cleaning up', act: () => cleanUpOld(files, journal) }])) === null;
}
