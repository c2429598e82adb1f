// The simulated fleet of `npm start`, with what else a newcomer needs to see it at work.
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

/** A custom pool, to have one: its machines are workers first, and have in addition what is for the role infra. */
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

/** Without it no pod can be made in the namespace `default`; in a cluster kube-controller-manager makes it. */
const defaultAccount: KubeObject = { metadata: { namespace: 'default', name: 'default' } };
