import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untilFound } from '@slipway/testing/wait';
import type { CandidateOptions, Report } from './candidate.ts';

const program = fileURLToPath(new URL('candidate.ts', import.meta.url));

/** A candidate process, and what it has told so far. */
export interface Candidate {
  readonly process: ChildProcess;
  /** Its term while it leads. */
  term: number | undefined;
  /** Writes decided and neither written nor refused yet. */
  pending: number;
  refused: string[];
  /** How often it has decided on a write. */
  decisions: number;
}

export function startCandidate(options: CandidateOptions): Candidate {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const candidate: Candidate = { process: child, term: undefined, pending: 0, refused: [], decisions: 0 };
  createInterface({ input: child.stdout }).on('line', (line) => note(candidate, JSON.parse(line) as Report));
  return candidate;
}

function note(candidate: Candidate, report: Report): void {
  if (report.type === 'leading') candidate.term = report.term;
  else if (report.type === 'standby') candidate.term = undefined;
  else if (report.type === 'decided') {
    candidate.pending += 1;
    candidate.decisions += 1;
  } else {
    candidate.pending -= 1;
    if (report.type === 'refused') candidate.refused.push(report.code);
  }
}

/** At the very moment: a freeze is to come right after a decision. */
const until = <T>(what: string, find: () => T | undefined | false): Promise<T> =>
  untilFound(what, find, { withinMs: 30_000, everyMs: 5 });

export interface Pair {
  readonly candidates: readonly [Candidate, Candidate];
  /** The terms in the pair's objects, as the watch saw them last; undefined where there is none yet. */
  terms(this: void): (number | undefined)[];
  /** The sequence numbers in the pair's objects: they grow with every write. */
  sequences(this: void): number[];
}

export interface FreezeResult {
  /** Codes of the writes that were decided before the freeze and refused after it. */
  refused: string[];
  /** Writes that were decided and not answered when the process was woken. */
  pending: number;
}

/**
 * Freezes the leader at a random moment around a decision, waits until the other has taken over and has changed
 * every object, wakes the frozen one, and waits until all it had in hand is settled and seen.
 */
export async function freezeLeader({ candidates, terms, sequences }: Pair): Promise<FreezeResult> {
  // Of the one that leads by then: on a loaded machine a leader may lose its lease before it decides.
  const decided = candidates.map(({ decisions }) => decisions);
  const leader = await until('a decision of a leader', () =>
    candidates.find(({ term, decisions }, at) => term !== undefined && decisions > (decided[at] ?? 0)),
  );
  const other = candidates[0] === leader ? candidates[1] : candidates[0];
  if (Math.random() < 0.5) await wait(Math.random() * 80);
  const before = leader.term ?? -1;
  leader.process.kill('SIGSTOP');

  const term = await until('the other to lead', () => (other.term ?? -1) > before && other.term);
  await until('the new leader to change every object', () => terms().every((each) => (each ?? -1) >= term));
  const { pending } = leader;
  const refusedBefore = leader.refused.length;
  leader.process.kill('SIGCONT');

  // On a loaded machine the new leader may lose its lease in turn: then the woken one leads again, in a later term.
  const hasLost = (): boolean => leader.term === undefined || leader.term > term;
  await until('the woken one to settle', () => hasLost() && leader.pending === 0);
  // The watch has passed whatever the woken one wrote when it shows later writes of the new leader on every object.
  const seen = sequences();
  await until('later writes', () => sequences().every((sequence, at) => sequence > (seen[at] ?? 0) + 1));
  return { refused: leader.refused.slice(refusedBefore), pending };
}

export function endCandidate({ process: child }: Candidate): void {
  child.kill('SIGKILL');
}
