// Many randomised rollouts, one seed after another.
import type { ControllerDef } from '@slipway/kube';
import { runScenario } from './rollout-scenario.ts';

export interface SeedsResult {
  /** One human-readable line. */
  readonly summary: string;
  /** Each with the seed that repeats it. */
  readonly violations: readonly string[];
}

/** The seeds from 1 on. SLIPWAY_SEED repeats one of them instead. */
export function listSeeds(count: number): number[] {
  const only = process.env['SLIPWAY_SEED'];
  return only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)];
}

export async function runSeeds(
  seeds: readonly number[],
  controllers: () => readonly ControllerDef[],
): Promise<SeedsResult> {
  const started = performance.now();
  const violations: string[] = [];
  let changes = 0;
  let given = 0;
  for (const seed of seeds) {
    const result = await runScenario(seed, controllers);
    changes += result.changes;
    given += result.given;
    violations.push(...result.violations.map((violation) => `SLIPWAY_SEED=${seed}: ${violation}`));
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const found = violations.length === 0 ? '0 violations, all converge' : `${violations.length} violations`;
  const summary = `${seeds.length} rollouts, ${given} targets given, ${changes} changes, ${found}, ${seconds} s`;
  return { summary, violations };
}
