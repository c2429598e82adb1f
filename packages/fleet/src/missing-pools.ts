import type { MachineConfigPool } from '@slipway/api';

const roles = ['master', 'worker'] as const;

/** The pool that every fleet has for a role, in the form that users know. */
const defaultPool = (role: string): MachineConfigPool => ({
  metadata: {
    name: role,
    labels: {
      'machineconfiguration.openshift.io/mco-built-in': '',
      [`pools.operator.machineconfiguration.openshift.io/${role}`]: '',
    },
  },
  spec: {
    machineConfigSelector: { matchLabels: { 'machineconfiguration.openshift.io/role': role } },
    nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${role}`]: '' } },
  },
});

/** The default pools that are not there. One that is there is its users' and stays as it is. */
export function missingPools(existing: Iterable<string>): MachineConfigPool[] {
  const names = new Set(existing);
  return roles.filter((role) => !names.has(role)).map(defaultPool);
}
