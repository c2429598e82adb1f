import { expect, it } from 'vitest';
import { runSeeds } from './testing/scenario.ts';

const seeds = Array.from({ length: 20_000 }, (_, seed) => 1000 + seed);

it.each([
  ['in charge of the host', false],
  ['beside another operator', true],
])('%s, the laws of hosts and drives hold in twenty thousand lives more', (_, besideOperator) => {
  expect(runSeeds(seeds, besideOperator).violations).toEqual([]);
});
