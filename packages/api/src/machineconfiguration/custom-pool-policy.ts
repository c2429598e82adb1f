import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
import { roleLabel } from './group.ts';
import { machineConfigPools } from './machine-config-pool.ts';

const standardPools = "['master', 'worker', 'arbiter']";

// The form `In [worker, <own role>]` is what the documentation of the platform shows; the other two are accepted there
// as well and are in use: a pool that shares the configuration of a standard role, and one that excludes other roles.
const selectsWorker = [
  `object.?spec.machineConfigSelector.matchLabels[?'${roleLabel}'].orValue('') in ${standardPools}`,
  `object.?spec.machineConfigSelector.matchExpressions.orValue([]).exists(e, e.key == '${roleLabel}' && e.operator == 'In' && 'worker' in e.?values.orValue([]))`,
  `object.?spec.machineConfigSelector.matchExpressions.orValue([]).exists(e, e.key == '${roleLabel}' && e.operator == 'NotIn' && !('worker' in e.?values.orValue([])))`,
].join(' || ');

/** A pool of one's own builds on what workers need: without it, its machines would lose their kubelet. */
export const customPoolPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'custom-machine-config-pool-selector',
  description: 'A custom pool must select the MachineConfigs of the role worker: its machines are workers first.',
  resource: machineConfigPools,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  validations: [
    {
      expression: `object.metadata.name in ${standardPools} || ${selectsWorker}`,
      message: `a custom pool must select the MachineConfigs of the role worker as well as its own: in spec.machineConfigSelector.matchExpressions, set key ${roleLabel}, operator In, values worker and the role of the pool`,
      messageExpression: `'pool ' + object.metadata.name + ' must select the MachineConfigs of the role worker as well as its own: in spec.machineConfigSelector.matchExpressions, set key ${roleLabel}, operator In, values worker and ' + object.metadata.name`,
    },
  ],
});
