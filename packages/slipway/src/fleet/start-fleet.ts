// The simulated fleet of `npm start`, with what else a newcomer needs to see it at work.
import { join } from 'node:path';
import { createClient, type Log } from '@slipway/kube';
import { connect } from '../cli/program.ts';
import { progressBar } from '../cli/terminal.ts';
import { createDefaultAccount } from './default-account.ts';
import { createInfraPool } from './infra-pool.ts';
import { sharesOf } from './shares.ts';
import { type SimulatedFleet, startFleet } from './simulated-fleet.ts';

export interface LocalFleetOptions {
  /** The administrator's. */
  readonly kubeconfig: string;
  readonly dataDir: string;
  readonly machines: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

export const fleetDirectory = (dataDir: string): string => join(dataDir, 'fleet');

export async function startLocalFleet(options: LocalFleetOptions): Promise<Pick<SimulatedFleet, 'names' | 'stop'>> {
  const { kubeconfig, dataDir, machines, log, signal, onProgress } = options;
  const transport = await connect({ kubeconfig });
  try {
    const client = createClient(transport);
    const shares = sharesOf(machines);
    if (shares.some(({ pool }) => pool === 'infra')) await createInfraPool(client);
    await createDefaultAccount(client);
    onProgress('simulated machines: the first ones are being born');
    const fleet = await startFleet({
      transport,
      directory: fleetDirectory(dataDir),
      shares,
      log,
      signal,
      onBirth: (born, of) => onProgress(`simulated machines ${progressBar(born, of)} ${born}/${of} born`),
    });
    return {
      names: () => fleet.names(),
      async stop() {
        await fleet.stop();
        await transport.close();
      },
    };
  } catch (error) {
    await transport.close();
    throw error;
  }
}
