// How many machines of which pool a simulated fleet of some size has.

export const MAX_MACHINES = 1000;
/** Masters, workers and a custom pool, each with more than one. */
export const DEFAULT_MACHINES = 8;

export interface PoolShare {
  readonly pool: 'master' | 'worker' | 'infra';
  readonly machines: number;
}

/** Three masters as soon as there are machines for them; then a tenth in the custom pool, and workers. */
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
