import {
  type MachineConfigPool,
  machineConfigPools,
  machineConfigurations,
  stopRolloutsAnnotation,
} from '@slipway/api';
import { machineConfigurationName as name } from '@slipway/fleet/reports';
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

// The switch that stops the rollouts of all pools: an annotation on the MachineConfiguration `cluster`.

const options = { fieldManager: 'slipway' } as const;

/** Why it is on; null: it is off. */
export async function readStopSwitch(client: Client): Promise<string | null> {
  const found = await client.find(machineConfigurations, { name });
  return found?.metadata.annotations?.[stopRolloutsAnnotation] ?? null;
}

/** Gives back what it was before. A last word needs no precondition: whoever says stop means it. */
export async function setStopSwitch(client: Client, reason: string | null): Promise<string | null> {
  const before = await readStopSwitch(client);
  if (before === reason) return before;
  const body = { metadata: { annotations: { [stopRolloutsAnnotation]: reason } } };
  try {
    await client.patch(machineConfigurations, { name }, { type: 'merge', body }, {}, options);
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
    if (reason !== null) await create(client, reason);
  }
  return before;
}

async function create(client: Client, reason: string): Promise<void> {
  const metadata = { name, annotations: { [stopRolloutsAnnotation]: reason } };
  await client.create(machineConfigurations, { metadata, spec: {} }, options);
}

// What happens after a command, for people: also that nothing happens yet, and how it would.

export interface Brakes {
  readonly isPaused: boolean;
  /** Why the whole fleet is stopped; null: it is not. */
  readonly stopped: string | null;
}

/** `moving` is what to say where nothing holds the machines. */
export function nextWords(pool: string, { isPaused, stopped }: Brakes, moving: string): string {
  const brakes = [
    ...(stopped === null ? [] : [`the rollouts of all pools are stopped (${stopped}): slipway resume --all ends that`]),
    ...(isPaused ? [`pool ${pool} is paused: slipway resume ${pool} ends that`] : []),
  ];
  return brakes.length === 0 ? moving : `But no machine moves yet: ${brakes.join('; and ')}. ${moving}`;
}

export async function readBrakes(client: Client, pool: string): Promise<Brakes> {
  const { spec } = await readPool(client, pool);
  return { isPaused: spec.paused === true, stopped: await readStopSwitch(client) };
}
