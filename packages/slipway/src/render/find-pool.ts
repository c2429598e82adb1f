import type { MachineConfigPool } from '@slipway/api';
import { CommandError } from '../cli/errors.ts';
import type { Fleet } from './complete-fleet.ts';

/** The pool of that name, or an error with the names there are. */
export function findPool({ pools }: Pick<Fleet, 'pools'>, name: string): MachineConfigPool {
  const found = pools.find(({ metadata }) => metadata.name === name);
  if (found !== undefined) return found;
  const names = pools.map(({ metadata }) => metadata.name).join(', ');
  throw new CommandError(
    'SLW_CLI_POOL',
    `MachineConfigPool ${name} is not in the manifests; there are ${names}. Add its manifest to -f, or give --pool one of these`,
  );
}
