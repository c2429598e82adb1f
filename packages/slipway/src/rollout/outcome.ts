// What a command has done to a rollout, for people and programs.
import { type Io, toJson, write } from '../cli/io.ts';
import { safeText } from '../cli/terminal.ts';

export interface Outcome {
  readonly action: 'pause' | 'resume' | 'cancel' | 'rollback';
  /** Null: all of them. */
  readonly pool: string | null;
  /** Whether anything was written. */
  readonly changed: boolean;
  readonly message: string;
  /** What happens next, and which command shows it. */
  readonly next: string;
}

export interface OutcomeOptions {
  output: 'text' | 'json';
}

export function sayOutcome(io: Io, { output }: OutcomeOptions, outcome: Outcome): Promise<void> {
  const text = output === 'json' ? toJson(outcome) : `${safeText(outcome.message)}\n${safeText(outcome.next)}\n`;
  return write(io.stdout, text);
}
