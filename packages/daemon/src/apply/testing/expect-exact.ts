import { expect } from 'vitest';
import { describeTally, disturbEverywhere, type Disturbance, type Tally, type Thoroughness } from './crash.ts';
import type { Sample } from './sample.ts';

const MAX_PROBLEMS = 10;

/** Disturbs the update at every call, prints how many there were, and expects no machine between two configs. */
export async function expectExact(
  sample: Sample,
  disturbance: Disturbance,
  thoroughness: Thoroughness,
): Promise<Tally> {
  const tally = await disturbEverywhere(sample, disturbance, thoroughness);
  console.log(`${sample.update.name}: ${describeTally(tally)}`);
  expect(tally.problems.slice(0, MAX_PROBLEMS)).toEqual([]);
  expect(tally.old + tally.new).toBe(tally.tried);
  return tally;
}
