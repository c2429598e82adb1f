// The simulated fleet of `npm start`, with everything a newcomer needs to see it work.
import { type MachineConfigPool, machineConfigPools, ROLE_LABEL } from '@slipway/api';
import { createClient, createWriter, type KubeObject, type Resource } from '@slipway/kube';
import { computeShares } from './shares.ts';
import { type FleetOptions, type SimulatedFleet, startFleet } from './simulated-fleet.ts';

export interface LocalFleetOptions extends Omit<FleetOptions, 'shares'> {
  readonly machines: number;
}

export async function startLocalFleet({ machines, ...options }: LocalFleetOptions): Promise<SimulatedFleet> {
  const write = createWriter(createClient(options.transport), { fieldManager: 'slipway-start' });
  const shares = computeShares(machines);
  if (shares.some(({ pool }) => pool === 'infra')) await write.createIfAbsent(machineConfigPools, infraPool);
  await write.createIfAbsent(serviceAccounts, defaultAccount);
  return startFleet({ ...options, shares });
}

/** An example of a custom pool: its machines are workers, with the configs of the role infra in addition. */
const infraPool: MachineConfigPool = {
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', 'infra'] }] },
    nodeSelector: { matchLabels: { 'node-role.kubernetes.io/infra': '' } },
  },
};

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

/** Without it no pod can be created in the namespace `default`. In a cluster, kube-controller-manager creates it. */
const defaultAccount: KubeObject = { metadata: { namespace: 'default', name: 'default' } };
