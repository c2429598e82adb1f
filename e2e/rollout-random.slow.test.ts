import { it } from 'vitest';
import { expectSafeRollouts, seeds } from './rollout-random/random-rollouts.ts';

it(
  'twenty randomised rollouts on the real API server: never more machines out of service than allowed, all converge',
  () => expectSafeRollouts(seeds),
  180_000,
);
