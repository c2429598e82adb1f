import { expect, it } from 'vitest';
import { drainController } from '../drain/controller.ts';
import { listSeeds, runSeeds } from '../testing/simulation/seeds.ts';
import { rolloutController } from './controller.ts';

it('in a thousand rollouts there are never more machines unavailable than allowed, and every machine is reached', async () => {
  const { summary, violations } = await runSeeds(listSeeds(1000), () => [rolloutController(), drainController()]);
  console.log(summary);
  expect(violations).toEqual([]);
});
