import { describe, expect, it } from 'vitest';
import { computeShares, DEFAULT_MACHINES } from './shares.ts';

describe('a simulated fleet', () => {
  it.each([
    [0, {}],
    [1, { master: 1 }],
    [4, { master: 1, worker: 3 }],
    [5, { master: 3, worker: 2 }],
    [DEFAULT_MACHINES, { master: 3, worker: 3, infra: 2 }],
    [1000, { master: 3, worker: 898, infra: 99 }],
  ])('of %i machines has %j', (total, expected) => {
    const shares = Object.fromEntries(computeShares(total).map(({ pool, machines }) => [pool, machines]));
    expect(shares).toEqual(expected);
  });
});
