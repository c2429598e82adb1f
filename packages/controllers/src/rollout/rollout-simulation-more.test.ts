import { expect, it } from 'vitest';
import { drainController } from '../drain/controller.ts';
import { runSeeds } from '../testing/simulation/seeds.ts';
import { rolloutController } from './controller.ts';

// A thousand randomised rollouts in two files, so that two cores share them.
it('a rollout of any course never has more machines out of service than allowed, and reaches every machine: seeds 501–1000', async () => {
  const { summary, violations } = await runSeeds(501, 1000, () => [rolloutController(), drainController()]);
  console.log(summary);
  expect(violations).toEqual([]);
}, 600_000);
