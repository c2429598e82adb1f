// The simulated fleet of `npm start`, with what else a newcomer needs to see it at work.
import { createClient } from '@slipway/kube';
import { createDefaultAccount } from './default-account.ts';
import { createInfraPool } from './infra-pool.ts';
import { type FleetOptions, type SimulatedFleet, startFleet } from './simulated-fleet.ts';
import { sharesOf } from './shares.ts';

export interface LocalFleetOptions extends Omit<FleetOptions, 'shares'> {
  readonly machines: number;
}

export async function startLocalFleet({ machines, ...options }: LocalFleetOptions): Promise<SimulatedFleet> {
  const client = createClient(options.transport);
  const shares = sharesOf(machines);
  if (shares.some(({ pool }) => pool === 'infra')) await createInfraPool(client);
  await createDefaultAccount(client);
  return startFleet({ ...options, shares });
}
