// Failures that say nothing of the config: the update is tried again by itself, more and more slowly.
import type { Problem } from './problem.ts';

export interface Retry {
  readonly target: string;
  readonly problem: Problem;
  readonly tries: number;
  /** Milliseconds of a clock that only grows. */
  readonly notBefore: number;
}

/** A disk that was full, or systemd that was on its way down. Everything else would fail the same way again. */
const PASSING: ReadonlySet<string> = new Set(['SLW_DAEMON_DISK', 'SLW_DAEMON_SYSTEMD']);
const FIRST_MS = 60_000;
const LONGEST_MS = 30 * 60_000;

export function canPass({ code }: Problem): boolean {
  return PASSING.has(code);
}

/** `before` is that of the last failure, perhaps of another target. */
export function nextRetry(before: Retry | null, target: string, problem: Problem, now: number): Retry {
  const tries = before?.target === target ? before.tries + 1 : 1;
  return { target, problem, tries, notBefore: now + Math.min(FIRST_MS * 2 ** (tries - 1), LONGEST_MS) };
}
