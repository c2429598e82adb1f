// What a command has done to the drive of a host, for people and programs.
import { type Io, toJson, write } from '../cli/io.ts';
import { safeText } from '../cli/terminal.ts';

/** `-o json` gives exactly this. */
export interface Outcome {
  readonly action: 'attach' | 'detach';
  readonly namespace: string;
  readonly host: string;
  /** The ISO that was asked for; null: none. */
  readonly url: string | null;
  /** Whether the DataImage was written or deleted. */
  readonly changed: boolean;
  /** Whether a reboot was asked for. */
  readonly rebooted: boolean;
  /** Whether it has come about; null: it was not waited for. */
  readonly reached: boolean | null;
  /** What was wrong with the ISO as seen from here. */
  readonly warnings: readonly string[];
  readonly message: string;
  /** What happens next, and which command shows it. */
  readonly next: string;
}

export function sayOutcome(io: Io, { output }: { output: 'text' | 'json' }, outcome: Outcome): Promise<void> {
  const lines = [outcome.message, outcome.next].filter(Boolean).map((line) => `${safeText(line)}\n`);
  return write(io.stdout, output === 'json' ? toJson(outcome) : lines.join(''));
}
