// How often something of one image was tried, when it is tried again, and when it counts as failed: a registry that hiccups, or
// is merely slow, is no failure.
import type { Problem } from '../problem.ts';

export interface Attempts {
  readonly tries: number;
  /** Milliseconds of a clock that only grows. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly notBefore: number;
  readonly problem: Problem;
}

const FAILED_TRIES = 3;
const FAILED_MS = 10_000;
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
const FAILED_FIRST_MS = 60_000;
const FAILED_LONGEST_MS = 300_000;

/** `before` is that of the last try, null for the first. `random` is from 0 to 1. */
export function addAttempt(before: Attempts | null, problem: Problem, now: number, random: number): Attempts {
  const tries = (before?.tries ?? 0) + 1;
  const firstAt = before?.firstAt ?? now;
  const attempts = { tries, firstAt, lastAt: now, notBefore: now, problem };
  return { ...attempts, notBefore: now + jittered(delayMs(attempts), random) };
}

export const isFailed = ({ tries, firstAt, lastAt }: Attempts): boolean =>
  tries >= FAILED_TRIES && lastAt - firstAt >= FAILED_MS;

function delayMs(attempts: Attempts): number {
  const { tries } = attempts;
  if (!isFailed(attempts)) return Math.min(FIRST_MS * 2 ** (tries - 1), LONGEST_MS);
  return Math.min(FAILED_FIRST_MS * 2 ** Math.max(0, tries - USUALLY_FAILED_AT), FAILED_LONGEST_MS);
}

/** After 1, 2, 4 and 8 seconds. */
const USUALLY_FAILED_AT = 5;

/** A quarter more or less: many machines fail at the same moment. */
export const jittered = (ms: number, random: number): number => ms * (0.75 + random / 2);

export const soonest = (moments: readonly number[]): number | null =>
  moments.length === 0 ? null : moments.reduce((a, b) => Math.min(a, b));
