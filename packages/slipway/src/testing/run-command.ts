import { PassThrough, Readable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import type { Io } from '../cli/io.ts';

export interface CommandResult {
  out: string;
  err: string;
  code: number;
  /** The code of the error that main would print, if one was thrown. */
  thrown?: string;
}

/**
 * Runs a command in this process and collects its output. `describe` formats an error that it throws; by default only
 * the message is printed.
 */
export async function runCommand(
  make: (io: Io) => Command,
  args: readonly string[],
  stdin = '',
  describe: (failure: Error) => string = ({ message }) => message,
): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough({ encoding: 'utf8' }), new PassThrough({ encoding: 'utf8' })];
  const [out, err] = [stdout.toArray(), stderr.toArray()];
  let code = 0;
  let thrown: string | undefined;
  const command = make({
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
    setExitCode: (exitCode) => {
      code = exitCode;
    },
  });
  for (const each of [command, ...command.commands]) {
    each.exitOverride();
    each.configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: (text) => void stderr.write(text) });
  }
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (failure) {
    if (!(failure instanceof Error) || !('code' in failure) || typeof failure.code !== 'string') throw failure;
    thrown = failure.code;
    code = failure instanceof CommanderError ? failure.exitCode : 1;
    stderr.write(`${describe(failure)}\n`);
  }
  stdout.end();
  stderr.end();
  return { out: (await out).join(''), err: (await err).join(''), code, ...(thrown === undefined ? {} : { thrown }) };
}
