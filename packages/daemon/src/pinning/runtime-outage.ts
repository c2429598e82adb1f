// A container runtime that does not answer is waited for: it is being restarted. Only if that lasts is something wrong.
import { type Backoff, backoffMs, quarterJitter } from '@slipway/base/backoff';
import type { Problem } from '../problem.ts';

export interface Outage {
  readonly since: number;
  readonly tries: number;
  readonly notBefore: number;
  readonly problem: Problem;
}

export const LONG_MS = 120_000;
/** Machines whose runtimes are restarted together do not ask together. */
const OUTAGE: Backoff = { firstMs: 500, maxMs: 10_000, jitter: quarterJitter };

export function addOutage(before: Outage | null, problem: Problem, now: number, random: number): Outage {
  // Pulls that end together are one that does not answer.
  if (before !== null && now < before.notBefore) return { ...before, problem };
  const tries = (before?.tries ?? 0) + 1;
  const waitMs = backoffMs(OUTAGE, tries, () => random);
  return { since: before?.since ?? now, tries, notBefore: now + waitMs, problem };
}

export const isLong = ({ since }: Outage, now: number): boolean => now - since >= LONG_MS;

export interface RuntimeWatch {
  note(problem: Problem): void;
  answered(): void;
  /** Null: it answers. */
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
