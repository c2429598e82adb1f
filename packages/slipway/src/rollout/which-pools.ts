import { CommandError } from '../cli/errors.ts';

export interface WhichOptions {
  all?: boolean;
}

/** The pool that was named, or null for all of them: one of the two must be said. */
export function whichPools(command: string, pool: string | undefined, { all = false }: WhichOptions): string | null {
  if (all && pool === undefined) return null;
  if (!all && pool !== undefined) return pool;
  const found = pool === undefined ? 'neither' : `both ${pool} and --all`;
  throw new CommandError(
    'SLW_CLI_USAGE',
    `slipway ${command}: expected a POOL or --all for the whole fleet, found ${found}`,
  );
}
