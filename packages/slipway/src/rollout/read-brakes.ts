import type { Client } from '@slipway/kube';
import { readPool } from './change-pool.ts';
import type { Brakes } from './next-words.ts';
import { readStopSwitch } from './stop-switch.ts';

export async function readBrakes(client: Client, pool: string): Promise<Brakes> {
  const { spec } = await readPool(client, pool);
  return { isPaused: spec.paused === true, stopped: await readStopSwitch(client) };
}
