import { it } from 'vitest';
import { listSeeds } from '../testing/simulation/seeds.ts';
import { expectAllReturned, expectOneTouched } from './testing/blast-radius.ts';

it('a config that breaks every machine it touches stops after one machine of a hundred, in a hundred runs', () =>
  expectOneTouched(listSeeds(100)));

it('with automatic rollback the fleet ends on the last good config, in a hundred runs', () =>
  expectAllReturned(listSeeds(100)));
