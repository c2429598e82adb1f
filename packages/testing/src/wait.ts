// Waits for a condition, with one bound for each type of wait. The bounds are for a machine under load: success takes a
// moment, and a generous bound only delays the message of a test that fails anyway.
import { setTimeout as sleep } from 'node:timers/promises';

const bounds = {
  /** Something within this process. */
  process: { withinMs: 10_000, everyMs: 10 },
  /**
   * One reaction of a controller, a server or a daemon to a change. The slowest legitimate one: an API server discovers
   * the kind of a policy's parameter up to half a minute after its start.
   */
  reaction: { withinMs: 50_000, everyMs: 50 },
  /** A rollout, a migration, a pull: many reactions in sequence. */
  rollout: { withinMs: 100_000, everyMs: 100 },
} as const;

interface Bound {
  readonly withinMs: number;
  readonly everyMs: number;
}

/** A type of wait, or a specific bound if the time is part of the promise; a number is in milliseconds. */
export type WaitBound = keyof typeof bounds | number | Bound;

/** Repeats the check until it stops throwing, and resolves to its result. Past the bound it throws the last error. */
export async function until<T>(check: () => T | Promise<T>, bound: WaitBound = 'reaction'): Promise<T> {
  const { withinMs, everyMs } = readBound(bound);
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(everyMs);
  }
}

/** `until` for something that recovers by itself, from the moment that its cause is gone. Prints how long that took. */
export async function untilRecovered(what: string, check: () => unknown, goalMs = 60_000): Promise<void> {
  const began = performance.now();
  await until(check, { withinMs: goalMs, everyMs: 20 });
  printRecovery(what, performance.now() - began, goalMs);
}

/** One line: `what` is a sentence without its end. */
export function printRecovery(what: string, ms: number, goalMs = 60_000): void {
  console.log(`${what} ${(ms / 1000).toFixed(1)} s after the cause was gone; goal: ${goalMs / 1000} s`);
}

/** Resolves to the first result that is neither undefined nor false. */
export function untilFound<T>(
  what: string,
  find: () => T | undefined | false | Promise<T | undefined | false>,
  bound: WaitBound = 'reaction',
): Promise<T> {
  return until(async () => {
    const found = await find();
    if (found === undefined || found === false) throw new Error(`timed out waiting for: ${what}`);
    return found;
  }, bound);
}

function readBound(bound: WaitBound): Bound {
  if (typeof bound === 'number') return { withinMs: bound, everyMs: 50 };
  return typeof bound === 'string' ? bounds[bound] : bound;
}
