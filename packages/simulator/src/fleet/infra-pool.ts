import { type MachineConfigPool, machineConfigPools, roleLabel } from '@slipway/api';
import { type Client, isKubeError } from '@slipway/kube';

/** A custom pool, to have one: its machines are workers first, and have in addition what is for the role infra. */
const infraPool: MachineConfigPool = {
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: roleLabel, operator: 'In', values: ['worker', 'infra'] }] },
    nodeSelector: { matchLabels: { 'node-role.kubernetes.io/infra': '' } },
  },
};

/** One that is there stays as it is. */
export async function createInfraPool(client: Client): Promise<void> {
  await client.create(machineConfigPools, infraPool, { fieldManager: 'slipway-start' }).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  });
}
