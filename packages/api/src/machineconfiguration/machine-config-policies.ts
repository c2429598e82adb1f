import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
import { machineConfigPools } from './machine-config-pool.ts';
import { machineConfigs } from './machine-config.ts';
import { builtInLabel, inUseLabel, poolLabel, RENDERED_PREFIX, ROLE_LABEL } from './names.ts';

const labelled = (object: 'object' | 'oldObject', label: string): string =>
  `('${label}' in ${object}.metadata.?labels.orValue({}))`;
const isRendered = `request.name.startsWith('${RENDERED_PREFIX}')`;
const IS_DELETION = "(request.operation == 'DELETE')";

/** Machines run rendered configs as they are: what nobody rendered, nobody could explain. */
export const renderedConfigPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'rendered-machine-config-guards',
  description: `MachineConfigs named ${RENDERED_PREFIX}… are made by the render controller alone, and those in use cannot be deleted.`,
  resource: machineConfigs,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  covers: 'spec and labels',
  exempt,
  validations: [
    {
      expression: `${IS_DELETION} || !(object.metadata.name.startsWith('${RENDERED_PREFIX}') || ${labelled('object', poolLabel)})`,
      message: `a MachineConfig named ${RENDERED_PREFIX}…, or with the label ${poolLabel}, is made by the render controller alone: write a MachineConfig of another name, with the role of the pool as its label, and it is merged into the next one`,
    },
    {
      expression: `!${IS_DELETION} || !${isRendered} || !${labelled('oldObject', inUseLabel)}`,
      message:
        'a pool, a node or a MachineSet refers to this rendered MachineConfig: it is collected when none does any more',
      messageExpression:
        "'a pool, a node or a MachineSet refers to MachineConfig ' + request.name + ': it is collected when none does any more'",
    },
  ],
});

/** The base of every merge comes with the program; users write over it, not into it. */
export const builtInConfigPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'built-in-machine-config-guards',
  description:
    'The MachineConfigs that come with the operator cannot be changed or deleted; users merge their own over them.',
  resource: machineConfigs,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  covers: 'spec and labels',
  exempt,
  validations: [
    {
      expression: `${IS_DELETION} || !${labelled('object', builtInLabel)}`,
      message: `the label ${builtInLabel} marks the operator's own MachineConfigs, which users neither make nor change: write a MachineConfig of your own without it, and it is merged over them`,
    },
    {
      expression: `request.operation == 'CREATE' || !${labelled('oldObject', builtInLabel)}`,
      message: `this MachineConfig is the operator's own (label ${builtInLabel}) and comes back with every start: write a MachineConfig of your own, and it is merged over it`,
    },
  ],
});

const STANDARD_POOLS = "['master', 'worker', 'arbiter']";

// The form `In [worker, <own role>]` is what the documentation of the platform shows; the other two are accepted there
// as well and are in use: a pool that shares the configuration of a standard role, and one that excludes other roles.
const selectsWorker = [
  `object.?spec.machineConfigSelector.matchLabels[?'${ROLE_LABEL}'].orValue('') in ${STANDARD_POOLS}`,
  `object.?spec.machineConfigSelector.matchExpressions.orValue([]).exists(e, e.key == '${ROLE_LABEL}' && e.operator == 'In' && 'worker' in e.?values.orValue([]))`,
  `object.?spec.machineConfigSelector.matchExpressions.orValue([]).exists(e, e.key == '${ROLE_LABEL}' && e.operator == 'NotIn' && !('worker' in e.?values.orValue([])))`,
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
      expression: `object.metadata.name in ${STANDARD_POOLS} || ${selectsWorker}`,
      message: `a custom pool must select the MachineConfigs of the role worker as well as its own: in spec.machineConfigSelector.matchExpressions, set key ${ROLE_LABEL}, operator In, values worker and the role of the pool`,
      messageExpression: `'pool ' + object.metadata.name + ' must select the MachineConfigs of the role worker as well as its own: in spec.machineConfigSelector.matchExpressions, set key ${ROLE_LABEL}, operator In, values worker and ' + object.metadata.name`,
    },
  ],
});
