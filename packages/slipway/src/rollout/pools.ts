// Pools as commands change them, and what holds their machines back.
import {
  type MachineConfigPool,
  machineConfigPools,
  machineConfigurations,
  SINGLETON_NAME,
  stopRolloutsAnnotation,
} from '@slipway/api';
import { anyVersion, type Client, isKubeError, retryOnConflict, type Stored } from '@slipway/kube';
import { readPool, createCliWriter } from '../cli/cluster.ts';

export interface PoolChange {
  readonly before: Stored<MachineConfigPool>;
  /** The same object where nothing had to change. */
  readonly after: Stored<MachineConfigPool>;
}

/** Others write to a pool too: what they did in between is looked at before it is tried again. */
const MAX_TRIES = 5;

/** Writes what `change` says of the pool as it is; null: nothing. */
export function changePool(
  client: Client,
  name: string,
  change: (pool: Stored<MachineConfigPool>) => object | null,
): Promise<PoolChange> {
  return retryOnConflict(async () => {
    const before = await readPool(client, name);
    const body = change(before);
    if (body === null) return { before, after: before };
    return { before, after: await createCliWriter(client).patch(machineConfigPools, before, body) };
  }, MAX_TRIES);
}

export interface RolloutHolds {
  readonly isPaused: boolean;
  /** Why the whole fleet is stopped; null: it is not. */
  readonly stopped: string | null;
}

export async function readHolds(client: Client, pool: string): Promise<RolloutHolds> {
  const { spec } = await readPool(client, pool);
  return { isPaused: spec.paused === true, stopped: await readStopSwitch(client) };
}

/** What happens after a command, for people: also that nothing happens yet, and how it would. `moving` is what to say where nothing holds the machines. */
export function formatNextSteps(pool: string, { isPaused, stopped }: RolloutHolds, moving: string): string {
  const brakes = [
    ...(stopped === null ? [] : [`the rollouts of all pools are stopped (${stopped}): slipway resume --all ends that`]),
    ...(isPaused ? [`pool ${pool} is paused: slipway resume ${pool} ends that`] : []),
  ];
  return brakes.length === 0 ? moving : `But no machine moves yet: ${brakes.join('; and ')}. ${moving}`;
}

/** Why the rollouts of all pools are stopped, by an annotation on the MachineConfiguration `cluster`; null: they are not. */
export async function readStopSwitch(client: Client): Promise<string | null> {
  const found = await client.find(machineConfigurations, { name: SINGLETON_NAME });
  return found?.metadata.annotations?.[stopRolloutsAnnotation] ?? null;
}

/** Gives back what it was before. A last word needs no precondition: whoever says stop means it. */
export async function setStopSwitch(client: Client, reason: string | null): Promise<string | null> {
  const before = await readStopSwitch(client);
  if (before === reason) return before;
  const write = createCliWriter(client);
  const name = SINGLETON_NAME;
  const annotations = { [stopRolloutsAnnotation]: reason };
  try {
    await write.patch(machineConfigurations, anyVersion({ name }), { metadata: { annotations } });
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
    if (reason === null) return before;
    const metadata = { name, annotations: { [stopRolloutsAnnotation]: reason } };
    await write.create(machineConfigurations, { metadata, spec: {} });
  }
  return before;
}
