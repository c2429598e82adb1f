// A question before something is written that costs a fleet much.
import { CommandError } from '../cli/errors.ts';
import { type Io, write } from '../cli/io.ts';
import { isTerminal } from '../cli/terminal.ts';

export interface AskOptions {
  yes?: boolean;
}

const LONGEST_ANSWER = 1000;

/** True: go on. Where nobody can be asked, --yes has to be said. */
export async function askWhether(question: string, { yes = false }: AskOptions, io: Io): Promise<boolean> {
  if (yes) return true;
  if (!isTerminal(io.stdin) || !isTerminal(io.stderr)) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      'there is no terminal to ask on whether to go on, so nothing was written. Add --yes to go on without a question, or --dry-run to only look',
    );
  }
  await write(io.stderr, `${question} [y/N] `);
  return /^y(?:es)?$/i.test(await firstLine(io.stdin));
}

async function firstLine(input: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of input) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('\n') || text.length > LONGEST_ANSWER) break;
  }
  return (text.split('\n')[0] ?? '').trim();
}
