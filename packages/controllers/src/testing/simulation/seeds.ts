// Many randomised rollouts, one seed after the other.
import type { ControllerDef } from '@slipway/kube';
import { runScenario } from './rollout-scenario.ts';

export interface SeedsResult {
  /** One line for people. */
  readonly summary: string;
  /** Each with the seed that repeats it. */
  readonly violations: readonly string[];
}

/** SLIPWAY_SEED has one of them repeated in place of all. */
export async function runSeeds(
  first: number,
  last: number,
  controllers: () => readonly ControllerDef[],
): Promise<SeedsResult> {
  const only = Number(process.env.SLIPWAY_SEED ?? Number.NaN);
  const [from, to] = Number.isNaN(only) ? [first, last] : [only, only];
  const started = performance.now();
  const violations: string[] = [];
  let changes = 0;
  let given = 0;
  for (let seed = from; seed <= to; seed += 1) {
    const result = await runScenario(seed, controllers);
    changes += result.changes;
    given += result.given;
    violations.push(...result.violations.map((violation) => `SLIPWAY_SEED=${seed}: ${violation}`));
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const found = violations.length === 0 ? '0 violations, all converge' : `${violations.length} violations`;
  const summary = `${to - from + 1} rollouts, seeds ${from}–${to}, ${given} targets given, ${changes} changes, ${found}, ${seconds} s`;
  return { summary, violations };
}
