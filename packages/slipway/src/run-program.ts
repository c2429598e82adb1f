import { type Command, CommanderError } from 'commander';
import { failureText } from './fail.ts';

/** Mistakes in the call read like every other error: one line, a code, the way out. */
function sayUsage(text: string, write: (text: string) => void): void {
  const [line = '', hint = ''] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n');
  write(`slipway: ${[line, hint].filter(Boolean).join(' ')} [SLW_CLI_USAGE]\n`);
}
function prepare(command: Command): void {
  command.exitOverride().configureOutput({ outputError: sayUsage });
  for (const each of command.commands) prepare(each);
}

/** Says in one line what went wrong, and ends with 1. */
export async function runProgram(program: Command): Promise<void> {
  prepare(program);
  // `slipway --help | head`: whoever reads may stop reading.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    // Commander has already said what it had to say, --help and --version included.
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      console.error(failureText(error, process.env.SLIPWAY_DEBUG === '1'));
      process.exitCode = 1;
    }
  }
}
