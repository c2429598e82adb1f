import { expect, it } from 'vitest';
import { runSeeds } from './testing/scenario.ts';

const seeds = Array.from({ length: 20_000 }, (_, seed) => 1000 + seed);

it.each([
  ['managing the host', false],
  ['alongside another operator', true],
])('%s, the invariants of hosts and drives hold in twenty thousand more runs', (_, besideOperator) => {
  expect(runSeeds(seeds, besideOperator).violations).toEqual([]);
});
