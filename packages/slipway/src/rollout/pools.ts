// Changes pools, and reads what stops their rollouts.
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
  /** The same object if nothing had to change. */
  readonly after: Stored<MachineConfigPool>;
}

/** Other clients write to a pool too, so each try reads it again. */
const MAX_TRIES = 5;

/** Applies the patch that `change` computes from the current pool; null: no patch. */
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

/** Describes what happens next, or what stops it and how to end that. `moving` applies if nothing stops the rollout. */
export function formatNextSteps(pool: string, { isPaused, stopped }: RolloutHolds, moving: string): string {
  const brakes = [
    ...(stopped === null ? [] : [`All rollouts are stopped (${stopped}); continue with slipway resume --all.`]),
    ...(isPaused ? [`Pool ${pool} is paused; unpause it with slipway resume ${pool}.`] : []),
  ];
  return brakes.length === 0 ? moving : `No machine is updated yet. ${brakes.join(' ')} ${moving}`;
}

/** Why the rollouts of all pools are stopped, by an annotation on the MachineConfiguration `cluster`; null: they are not. */
export async function readStopSwitch(client: Client): Promise<string | null> {
  const found = await client.find(machineConfigurations, { name: SINGLETON_NAME });
  return found?.metadata.annotations?.[stopRolloutsAnnotation] ?? null;
}

/** Returns the previous value. Without a precondition: a stop must always succeed, and the last write wins. */
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
