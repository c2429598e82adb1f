// Twenty of the hundred runs in rollout-blast-radius.slow.test.ts, with other seeds on each commit.
import { drawSample } from '@slipway/testing/sample';
import { it } from 'vitest';
import { listSeeds } from '../testing/simulation/seeds.ts';
import { expectAllReturned, expectOneTouched } from './testing/blast-radius.ts';

it(
  'a config that breaks every machine it touches stops after one machine of a hundred',
  () => expectOneTouched(drawSample('one touched', listSeeds(100))),
  600_000,
);

it(
  'with automatic rollback the fleet ends on the last good config',
  () => expectAllReturned(drawSample('all returned', listSeeds(100))),
  600_000,
);
