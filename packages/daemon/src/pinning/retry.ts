// Retries: when, and from when on something counts as failed.
import { type Backoff, backoffMs, quarterJitter } from '@slipway/base/backoff';
import { DaemonError } from '../errors.ts';
import { systemErrorCode } from '../host/file-system.ts';
import { findCodedProblem, type Problem } from '../problem.ts';

// The attempts for one image. A registry that is slow or fails briefly does not count as a failure.

export interface Attempts {
  readonly tries: number;
  /** Monotonic, in milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly notBefore: number;
  readonly problem: Problem;
}

const FAILED_TRIES = 3;
const FAILED_MS = 10_000;
// Many machines fail at the same moment. The jitter keeps them from retrying together.
const UNTIL_FAILED: Backoff = { firstMs: 1000, maxMs: 60_000, jitter: quarterJitter };
const ONCE_FAILED: Backoff = { firstMs: 60_000, maxMs: 300_000, jitter: quarterJitter };
/** After 1, 2, 4 and 8 seconds. */
const TYPICAL_FAILED_TRY = 5;

/** `before`: the last attempt, or null. `random`: from 0 to 1. */
export function addAttempt(before: Attempts | null, problem: Problem, now: number, random: number): Attempts {
  const tries = (before?.tries ?? 0) + 1;
  const firstAt = before?.firstAt ?? now;
  const attempts = { tries, firstAt, lastAt: now, notBefore: now, problem };
  const waitMs = isFailed(attempts)
    ? backoffMs(ONCE_FAILED, tries - TYPICAL_FAILED_TRY + 1, () => random)
    : backoffMs(UNTIL_FAILED, tries, () => random);
  return { ...attempts, notBefore: now + waitMs };
}

/** Counts as failed from the first time. */
export function addFailure(before: Attempts | null, problem: Problem, now: number, random: number): Attempts {
  const tries = TYPICAL_FAILED_TRY - 1;
  return addAttempt(
    before ?? { tries, firstAt: now - FAILED_MS, lastAt: now, notBefore: 0, problem },
    problem,
    now,
    random,
  );
}

export const isFailed = ({ tries, firstAt, lastAt }: Attempts): boolean =>
  tries >= FAILED_TRIES && lastAt - firstAt >= FAILED_MS;

export const findEarliest = (moments: readonly number[]): number | null =>
  moments.length === 0 ? null : moments.reduce((a, b) => Math.min(a, b));

// A container runtime that does not respond is usually restarting. Only a long outage is a problem.

export interface Outage {
  readonly since: number;
  readonly tries: number;
  readonly notBefore: number;
  readonly problem: Problem;
}

export const LONG_OUTAGE_MS = 120_000;
/** The jitter keeps machines whose runtimes restart together from querying together. */
const OUTAGE: Backoff = { firstMs: 500, maxMs: 10_000, jitter: quarterJitter };

export function addOutage(before: Outage | null, problem: Problem, now: number, random: number): Outage {
  // Pulls that fail together count as one outage.
  if (before !== null && now < before.notBefore) return { ...before, problem };
  const tries = (before?.tries ?? 0) + 1;
  const waitMs = backoffMs(OUTAGE, tries, () => random);
  return { since: before?.since ?? now, tries, notBefore: now + waitMs, problem };
}

export const isLongOutage = ({ since }: Outage, now: number): boolean => now - since >= LONG_OUTAGE_MS;

export interface RuntimeWatch {
  note(problem: Problem): void;
  answered(): void;
  /** Null: it responds. */
  outage(): Outage | null;
}

export function watchRuntime(now: () => number, random: () => number): RuntimeWatch {
  let outage: Outage | null = null;
  return {
    note(problem) {
      outage = addOutage(outage, problem, now(), random());
    },
    answered() {
      outage = null;
    },
    outage: () => outage,
  };
}

// What a failure on the machine means for its pins.

/** Null: the error is unexpected. */
export function toExpectedProblem(error: unknown): Problem | null {
  const problem = findCodedProblem(error);
  if (problem === null || systemErrorCode(error) === undefined) return problem;
  return { ...problem, message: `${problem.message}. Pins stay unchanged until the disk accepts the change` };
}

export const isOutage = (error: unknown): error is DaemonError =>
  error instanceof DaemonError && error.code === 'SLW_PINNING_RUNTIME';
