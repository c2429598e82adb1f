// How many machines of each pool a simulated fleet has.

export const MAX_MACHINES = 1000;
/** Enough for several masters, workers and machines of a custom pool. */
export const DEFAULT_MACHINES = 8;

export interface PoolShare {
  readonly pool: 'master' | 'worker' | 'infra';
  readonly machines: number;
}

/** Three masters if there are enough machines, then a tenth in the custom pool. The rest are workers. */
export function computeShares(total: number): PoolShare[] {
  const masters = total >= 5 ? 3 : Math.min(total, 1);
  const infra = total >= DEFAULT_MACHINES ? Math.max(2, Math.floor((total - masters) / 10)) : 0;
  const shares: PoolShare[] = [
    { pool: 'master', machines: masters },
    { pool: 'worker', machines: total - masters - infra },
    { pool: 'infra', machines: infra },
  ];
  return shares.filter(({ machines }) => machines > 0);
}
