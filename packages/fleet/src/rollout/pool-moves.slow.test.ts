import { it } from 'vitest';
import { expectOneTouched, listSeeds } from './testing/pool-moves.ts';

it('a broken config touches one machine, in a thousand orders of creating pools, labelling machines and rendering configs', () =>
  expectOneTouched(listSeeds(1000)));
