// 100 of the thousand in rollout-simulation.slow.test.ts, with other seeds on each commit.
import { drawSample } from '@slipway/testing/sample';
import { expect, it } from 'vitest';
import { drainController } from '../drain/controller.ts';
import { listSeeds, runSeeds } from '../testing/simulation/seeds.ts';
import { rolloutController } from './controller.ts';

it('a rollout never has more machines unavailable than allowed, and reaches every machine', async () => {
  const seeds = drawSample('rollout-simulation', listSeeds(1000), 1 / 10);
  const { summary, violations } = await runSeeds(seeds, () => [rolloutController(), drainController()]);
  console.log(summary);
  expect(violations).toEqual([]);
}, 600_000);
