// Asks on the terminal before a command writes.
import { CommandError } from './errors.ts';
import { type Io, write } from './io.ts';
import { isTerminal } from './terminal.ts';

export interface ConfirmOptions {
  readonly yes?: boolean;
}

const MAX_ANSWER_CHARACTERS = 1000;

/** True: continue. Without a terminal, --yes is required. */
export async function confirm(question: string, { yes = false }: ConfirmOptions, io: Io): Promise<boolean> {
  if (yes) return true;
  if (!isTerminal(io.stdin) || !isTerminal(io.stderr)) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      'confirmation needs a terminal, and there is none, so nothing was written. Add --yes to confirm, or --dry-run to only show the plan',
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
    if (text.includes('\n') || text.length > MAX_ANSWER_CHARACTERS) break;
  }
  return (text.split('\n')[0] ?? '').trim();
}
