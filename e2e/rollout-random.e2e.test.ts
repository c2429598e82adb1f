// Of the twenty in rollout-random.slow.test.ts, others with each commit.
import { drawSample } from '@slipway/testing/sample';
import { it } from 'vitest';
import { expectSafeRollouts, seeds } from './rollout-random/random-rollouts.ts';

it(
  'randomised rollouts on the real API server: never more machines out of service than allowed, all converge',
  () => expectSafeRollouts(drawSample('rollout-random', seeds, 1 / 10)),
  180_000,
);
