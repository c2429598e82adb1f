import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
import { machineConfigPools } from './machine-config-pool.ts';
import { machineConfigs } from './machine-config.ts';
import { builtInLabel, inUseLabel, poolLabel, RENDERED_PREFIX, ROLE_LABEL } from './names.ts';

const labelled = (object: 'object' | 'oldObject', label: string): string =>
  `('${label}' in ${object}.metadata.?labels.orValue({}))`;
const isRendered = `request.name.startsWith('${RENDERED_PREFIX}')`;
const IS_DELETION = "(request.operation == 'DELETE')";

/** Machines apply rendered configs without further checks, so only the render controller may write them. */
export const renderedConfigPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'rendered-machine-config-guards',
  description: `Only the render controller creates and changes MachineConfigs named ${RENDERED_PREFIX}…, and those in use cannot be deleted.`,
  resource: machineConfigs,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  covers: 'spec and labels',
  exempt,
  validations: [
    {
      expression: `${IS_DELETION} || !(object.metadata.name.startsWith('${RENDERED_PREFIX}') || ${labelled('object', poolLabel)})`,
      message: `only the render controller creates and changes MachineConfigs that are named ${RENDERED_PREFIX}… or have the label ${poolLabel}. Create a MachineConfig with another name and with the role of the pool in the label ${ROLE_LABEL}: it becomes part of the next rendered config`,
    },
    {
      expression: `!${IS_DELETION} || !${isRendered} || !${labelled('oldObject', inUseLabel)}`,
      message:
        'a pool, a node or a MachineSet still uses this rendered MachineConfig. It is deleted automatically when it is no longer in use',
      messageExpression:
        "'a pool, a node or a MachineSet still uses MachineConfig ' + request.name + '. It is deleted automatically when it is no longer in use'",
    },
  ],
});

/** The operator ships the base of every merge. Users override it with MachineConfigs, not by editing it. */
export const builtInConfigPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'built-in-machine-config-guards',
  description:
    'The built-in MachineConfigs of the operator cannot be changed or deleted. Users override them with other MachineConfigs.',
  resource: machineConfigs,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  covers: 'spec and labels',
  exempt,
  validations: [
    {
      expression: `${IS_DELETION} || !${labelled('object', builtInLabel)}`,
      message: `the label ${builtInLabel} is reserved for the built-in MachineConfigs of the operator. Create a MachineConfig without this label: it overrides the built-in ones`,
    },
    {
      expression: `request.operation == 'CREATE' || !${labelled('oldObject', builtInLabel)}`,
      message: `this MachineConfig is built in (label ${builtInLabel}): the operator restores it at every start. Create another MachineConfig to override it`,
    },
  ],
});

const STANDARD_POOLS = "['master', 'worker', 'arbiter']";

// The platform documents the form `In [worker, <own role>]`. It also accepts the other two, which are in use: a pool
// that shares the configuration of a standard role, and a pool that excludes other roles.
const selectsWorker = [
  `object.?spec.machineConfigSelector.matchLabels[?'${ROLE_LABEL}'].orValue('') in ${STANDARD_POOLS}`,
  `object.?spec.machineConfigSelector.matchExpressions.orValue([]).exists(e, e.key == '${ROLE_LABEL}' && e.operator == 'In' && 'worker' in e.?values.orValue([]))`,
  `object.?spec.machineConfigSelector.matchExpressions.orValue([]).exists(e, e.key == '${ROLE_LABEL}' && e.operator == 'NotIn' && !('worker' in e.?values.orValue([])))`,
].join(' || ');

/** A custom pool builds on the worker configuration: without it, its machines would lose their kubelet. */
export const customPoolPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'custom-machine-config-pool-selector',
  description: 'A custom pool must select the MachineConfigs of the role worker, because its machines are workers.',
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
