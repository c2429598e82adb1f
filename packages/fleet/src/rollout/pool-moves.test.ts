// Some of the thousand orders in pool-moves.slow.test.ts, with other seeds on each commit.
import { drawSample } from '@slipway/testing/sample';
import { it } from 'vitest';
import { expectOneTouched, listSeeds } from './testing/pool-moves.ts';

it('a broken config touches one machine, in any order of creating pools, labelling machines and rendering configs', () =>
  expectOneTouched(drawSample('pool moves', listSeeds(1000), 1 / 20)));
