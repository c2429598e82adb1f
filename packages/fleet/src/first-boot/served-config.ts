import { targetConfigAnnotation } from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';

/**
 * The rendered config that new machines of a pool are given. A config that no machine runs yet has not shown that a
 * machine can boot from it: while the pool has machines, new ones get what those run, and the new config with the first
 * machine that has it. A pool without machines has nothing to go by but its target.
 */
export function servedConfig(pool: MachineConfigPool, currentConfigs: Iterable<string>): string | undefined {
  const target = targetOf(pool);
  const proven = pool.status?.configuration?.name || undefined;
  if (target === undefined || proven === undefined) return target ?? proven;
  const ofPool = [...currentConfigs].filter((name) => isRenderedFor(pool.metadata.name, name));
  return ofPool.length === 0 || ofPool.includes(target) ? target : proven;
}

/** A held target counts before what render has made since. */
const targetOf = ({ metadata, spec }: MachineConfigPool): string | undefined =>
  metadata.annotations?.[targetConfigAnnotation] || spec.configuration?.name || undefined;

const hashLength = 32;

/** `rendered-<pool>-<32 hex>`: the name of a pool may itself have dashes, so the hash is cut off first. */
function isRenderedFor(pool: string, name: string): boolean {
  return name.slice(0, -hashLength) === `rendered-${pool}-` && /^[0-9a-f]+$/.test(name.slice(-hashLength));
}
