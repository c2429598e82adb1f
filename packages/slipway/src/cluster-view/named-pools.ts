import type { FleetNow } from '@slipway/fleet/reports';
import { CommandError } from '../errors.ts';
import { nearNames } from '../explain/near-names.ts';

/** The pools that were named; null where none was, which means all. */
export function namedPools({ pools }: Pick<FleetNow, 'pools'>, asked: readonly string[]): ReadonlySet<string> | null {
  const names = pools.map(({ metadata }) => metadata.name);
  for (const name of asked) if (!names.includes(name)) throw noSuchPool(name, names);
  return asked.length === 0 ? null : new Set(asked);
}

export function noSuchPool(asked: string, names: readonly string[]): CommandError {
  const near = nearNames(asked, names);
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `There are ${names.join(', ') || 'no pools'}`;
  return new CommandError('SLW_CLI_NO_POOL', `the cluster has no MachineConfigPool ${asked}. ${hint}`);
}
