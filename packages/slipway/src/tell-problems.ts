import { type CodedProblem, formatProblem, ProblemList } from '@slipway/fleet';
import type { Io } from './ignition/io.ts';
import { write } from './ignition/io.ts';

/** More than this on a terminal helps nobody. */
const MAX_SHOWN = 50;

/** Runs a command; the problems it ends with become one line each and the exit code 1. */
export async function tellProblems(io: Io, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof ProblemList)) throw error;
    await write(io.stderr, problemLines(error.problems));
    io.setExitCode(1);
  }
}

/** One line each, in the form of every error of the command. */
function problemLines(problems: readonly CodedProblem[]): string {
  const shown = problems
    .slice(0, MAX_SHOWN)
    .map(({ code, message }) => `slipway: ${formatProblem({ code, message: oneLine(message) })}\n`);
  const more = problems.length - shown.length;
  return [...shown, ...(more > 0 ? [`slipway: … and ${more} more problems\n`] : [])].join('');
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');
