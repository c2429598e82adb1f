import type { Client } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { type Io, write } from '../cli/io.ts';
import { askPool } from './ask-pool.ts';
import { type Outcome, type OutcomeOptions, sayOutcome } from './outcome.ts';

export interface AskCommandOptions extends OutcomeOptions {
  /** Seconds. */
  wait: number;
}

export interface Question {
  readonly client: Client;
  readonly pool: string;
  readonly action: Outcome['action'];
  readonly request: string;
  /** What to say after the answer. */
  readonly next: string;
  readonly signal: AbortSignal;
}

/** As a shell has it for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Asks the controller and says what it answered. A refusal is an error. */
export async function askAndSay(question: Question, options: AskCommandOptions, io: Io): Promise<void> {
  const { pool, action, request, next } = question;
  const onWait = (): void => {
    void write(
      io.stderr,
      `asked for: ${request}; waiting for the controller’s answer, at most ${options.wait} s. Ctrl-C takes it back\n`,
    );
  };
  const asked = await askPool({ ...question, waitMs: options.wait * 1000, onWait });
  if (asked.type === 'taken back') {
    await write(io.stderr, `The request ${request} to pool ${pool} was taken back; nothing changes because of it.\n`);
    io.setExitCode(INTERRUPTED);
    return;
  }
  const { ok, text } = asked.answer;
  if (!ok) throw new CommandError('SLW_CLI_REFUSED', `${action} of pool ${pool} was refused: ${text}`);
  await sayOutcome(io, options, { action, pool, changed: true, message: sentence(text), next });
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
