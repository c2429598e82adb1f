// How often something of one image was tried, when it is tried again, and when it counts as failed: a registry that hiccups, or
// is merely slow, is no failure.
import { type Backoff, backoffMs, quarterJitter } from '@slipway/base/backoff';
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
const UNTIL_FAILED: Backoff = { firstMs: 1000, maxMs: 60_000, jitter: quarterJitter };
const ONCE_FAILED: Backoff = { firstMs: 60_000, maxMs: 300_000, jitter: quarterJitter };
/** After 1, 2, 4 and 8 seconds. */
const USUALLY_FAILED_AT = 5;

/** `before` is that of the last try, null for the first. `random` is from 0 to 1. */
export function addAttempt(before: Attempts | null, problem: Problem, now: number, random: number): Attempts {
  const tries = (before?.tries ?? 0) + 1;
  const firstAt = before?.firstAt ?? now;
  const attempts = { tries, firstAt, lastAt: now, notBefore: now, problem };
  const waitMs = isFailed(attempts)
    ? backoffMs(ONCE_FAILED, tries - USUALLY_FAILED_AT + 1, () => random)
    : backoffMs(UNTIL_FAILED, tries, () => random);
  return { ...attempts, notBefore: now + waitMs };
}

export const isFailed = ({ tries, firstAt, lastAt }: Attempts): boolean =>
  tries >= FAILED_TRIES && lastAt - firstAt >= FAILED_MS;

export const soonest = (moments: readonly number[]): number | null =>
  moments.length === 0 ? null : moments.reduce((a, b) => Math.min(a, b));
