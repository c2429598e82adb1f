// The switch that stops the rollouts of all pools: an annotation on the MachineConfiguration `cluster`.
import { machineConfigurations, stopRolloutsAnnotation } from '@slipway/api';
import { machineConfigurationName as name } from '@slipway/fleet/reports';
import { type Client, isKubeError } from '@slipway/kube';

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
