import { type MachineConfigPool, machineConfigPools } from '@slipway/api';
import { type Client, isKubeError, type Stored } from '@slipway/kube';
import { noSuchPool } from '../cli/cluster.ts';

/** Others write to a pool too: what they did in between is looked at before it is tried again. */
const MAX_TRIES = 5;

export interface Changed {
  readonly before: Stored<MachineConfigPool>;
  /** The same object where nothing had to change. */
  readonly after: Stored<MachineConfigPool>;
}

/** Writes what `change` says of the pool as it is; null: nothing. */
export async function changePool(
  client: Client,
  name: string,
  change: (pool: Stored<MachineConfigPool>) => object | null,
): Promise<Changed> {
  for (let tries = 1; ; tries += 1) {
    const before = await readPool(client, name);
    const body = change(before);
    if (body === null) return { before, after: before };
    const { uid, resourceVersion } = before.metadata;
    try {
      const after = await client.patch(
        machineConfigPools,
        { name },
        { type: 'merge', body },
        { uid, resourceVersion },
        { fieldManager: 'slipway' },
      );
      return { before, after };
    } catch (error) {
      if (tries >= MAX_TRIES || !isKubeError(error, 'SLW_KUBE_CONFLICT')) throw error;
    }
  }
}

export async function readPool(client: Client, name: string): Promise<Stored<MachineConfigPool>> {
  const pool = await client.find(machineConfigPools, { name });
  if (pool !== undefined) return pool;
  const names: string[] = [];
  for await (const { metadata } of client.list(machineConfigPools)) names.push(metadata.name);
  throw noSuchPool(name, names);
}
