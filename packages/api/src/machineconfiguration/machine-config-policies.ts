import type { Identity } from '../identity.ts';
import { celList, type PolicyDefinition } from '../policy.ts';
import { type MachineConfigPool, machineConfigPools } from './machine-config-pool.ts';
import { type MachineConfig, machineConfigs } from './machine-config.ts';
import {
  builtInLabel,
  inUseLabel,
  poolLabel,
  RENDERED_PREFIX,
  ROLE_LABEL,
  rolloutHistoryAnnotation,
  rolloutRequestAnnotation,
  rolloutStateAnnotation,
  targetConfigAnnotation,
} from './names.ts';

const labelled = (object: 'object' | 'oldObject', label: string): string =>
  `('${label}' in ${object}.metadata.?labels.orValue({}))`;
// The request that deletes a whole collection names no object.
const wasRendered = `oldObject.metadata.name.startsWith('${RENDERED_PREFIX}')`;
const IS_DELETION = "(request.operation == 'DELETE')";

const RENDERED_IS_RESERVED = `only the render controller creates and changes MachineConfigs that are named ${RENDERED_PREFIX}… or have the label ${poolLabel}. Create a MachineConfig with another name and with the role of the pool in the label ${ROLE_LABEL}: it becomes part of the next rendered config`;
const BUILT_IN_IS_RESERVED = `the label ${builtInLabel} is reserved for the built-in MachineConfigs of the operator. Create a MachineConfig without this label: it overrides the built-in ones`;

const hasLabel = ({ metadata: { labels = {} } }: MachineConfig, label: string): boolean => Object.hasOwn(labels, label);

/** Machines apply rendered configs without further checks, so only the render controller may write them. */
export const renderedConfigPolicy = (exempt: readonly Identity[]): PolicyDefinition<MachineConfig> => ({
  name: 'rendered-machine-config-guards',
  description: `Only the render controller creates and changes MachineConfigs named ${RENDERED_PREFIX}…, and those in use cannot be deleted.`,
  resource: machineConfigs,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  covers: 'spec, labels and owners',
  exempt,
  validations: [
    {
      expression: `${IS_DELETION} || !(object.metadata.name.startsWith('${RENDERED_PREFIX}') || ${labelled('object', poolLabel)})`,
      message: RENDERED_IS_RESERVED,
      refuses: (object) =>
        object.metadata.name.startsWith(RENDERED_PREFIX) || hasLabel(object, poolLabel)
          ? RENDERED_IS_RESERVED
          : undefined,
    },
    {
      expression: `!${IS_DELETION} || !${wasRendered} || !${labelled('oldObject', inUseLabel)}`,
      message:
        'a pool, a node or a MachineSet still uses this rendered MachineConfig. It is deleted automatically when it is no longer in use',
      messageExpression:
        "'a pool, a node or a MachineSet still uses MachineConfig ' + oldObject.metadata.name + '. It is deleted automatically when it is no longer in use'",
    },
  ],
});

/** The operator ships the base of every merge. Users override it with MachineConfigs, not by editing it. */
export const builtInConfigPolicy = (exempt: readonly Identity[]): PolicyDefinition<MachineConfig> => ({
  name: 'built-in-machine-config-guards',
  description:
    'The built-in MachineConfigs of the operator cannot be changed or deleted. Users override them with other MachineConfigs.',
  resource: machineConfigs,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  covers: 'spec, labels and owners',
  exempt,
  validations: [
    {
      expression: `${IS_DELETION} || !${labelled('object', builtInLabel)}`,
      message: BUILT_IN_IS_RESERVED,
      field: 'metadata.labels',
      refuses: (object) => (hasLabel(object, builtInLabel) ? BUILT_IN_IS_RESERVED : undefined),
    },
    {
      expression: `request.operation == 'CREATE' || !${labelled('oldObject', builtInLabel)}`,
      message: `this MachineConfig is built in (label ${builtInLabel}): the operator restores it at every start. Create another MachineConfig to override it`,
    },
  ],
});

const standardPools: readonly string[] = ['master', 'worker', 'arbiter'];
const STANDARD_POOLS = celList(standardPools);

// The platform documents the form `In [worker, <own role>]`. It also accepts the other two, which are in use: a pool
// that shares the configuration of a standard role, and a pool that excludes other roles.
const selectsWorker = [
  `object.?spec.machineConfigSelector.matchLabels[?'${ROLE_LABEL}'].orValue('') in ${STANDARD_POOLS}`,
  `object.?spec.machineConfigSelector.matchExpressions.orValue([]).exists(e, e.key == '${ROLE_LABEL}' && e.operator == 'In' && 'worker' in e.?values.orValue([]))`,
  `object.?spec.machineConfigSelector.matchExpressions.orValue([]).exists(e, e.key == '${ROLE_LABEL}' && e.operator == 'NotIn' && !('worker' in e.?values.orValue([])))`,
].join(' || ');

function isWorkerSelected({ machineConfigSelector = {} }: MachineConfigPool['spec']): boolean {
  const { matchLabels = {}, matchExpressions = [] } = machineConfigSelector;
  if (standardPools.includes(matchLabels[ROLE_LABEL] ?? '')) return true;
  return matchExpressions.some(({ key, operator, values = [] }) => {
    const isNamed = values.includes('worker');
    return key === ROLE_LABEL && ((operator === 'In' && isNamed) || (operator === 'NotIn' && !isNamed));
  });
}

const isSelectorEmpty =
  'object.?spec.machineConfigSelector.hasValue() && size(object.spec.machineConfigSelector.?matchLabels.orValue({})) == 0 && size(object.spec.machineConfigSelector.?matchExpressions.orValue([])) == 0';
const EMPTY_MEANS_ALL =
  'an empty selector means all MachineConfigs, also those of other pools, so none is selected. Set matchLabels to';

function hasEmptySelector({ machineConfigSelector: selector }: MachineConfigPool['spec']): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/** A custom pool builds on the worker configuration: without it, its machines would lose their kubelet. */
export const customPoolPolicy = (exempt: readonly Identity[]): PolicyDefinition<MachineConfigPool> => ({
  name: 'custom-machine-config-pool-selector',
  description:
    'A custom pool must select the MachineConfigs of the role worker, because its machines are workers. The selector of a standard pool must not be empty.',
  resource: machineConfigPools,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  validations: [
    {
      expression: `!(object.metadata.name in ${STANDARD_POOLS}) || !(${isSelectorEmpty})`,
      message: `spec.machineConfigSelector of a pool: ${EMPTY_MEANS_ALL} ${ROLE_LABEL}: and the role of the pool`,
      messageExpression: `'spec.machineConfigSelector of pool ' + object.metadata.name + ': ${EMPTY_MEANS_ALL} ${ROLE_LABEL}: ' + object.metadata.name`,
      field: 'spec.machineConfigSelector',
      refuses: ({ metadata: { name }, spec }) =>
        standardPools.includes(name) && hasEmptySelector(spec)
          ? `${EMPTY_MEANS_ALL} ${ROLE_LABEL}: ${name}`
          : undefined,
    },
    {
      expression: `object.metadata.name in ${STANDARD_POOLS} || ${selectsWorker}`,
      message: `a custom pool must select the MachineConfigs of the role worker as well as its own: in spec.machineConfigSelector.matchExpressions, set key ${ROLE_LABEL}, operator In, values worker and the role of the pool`,
      messageExpression: `'pool ' + object.metadata.name + ' must select the MachineConfigs of the role worker as well as its own: in spec.machineConfigSelector.matchExpressions, set key ${ROLE_LABEL}, operator In, values worker and ' + object.metadata.name`,
      field: 'spec.machineConfigSelector',
      refuses: ({ metadata: { name }, spec }) =>
        standardPools.includes(name) || isWorkerSelected(spec)
          ? undefined
          : `must select the MachineConfigs of the role worker as well as its own: in spec.machineConfigSelector.matchExpressions, set key ${ROLE_LABEL}, operator In, values worker and ${name}`,
    },
  ],
});

// What the rollout controller decides from, and the machine config server too.
const rolloutAnnotations = [targetConfigAnnotation, rolloutStateAnnotation, rolloutHistoryAnnotation];
const configOf = (object: 'object' | 'oldObject'): string => `${object}.?spec.configuration.name.orValue('')`;
const ASK_FOR_A_TARGET = `To roll the pool back, run slipway rollback POOL or set the annotation ${rolloutRequestAnnotation}; to release a held pool, run slipway resume POOL`;

/**
 * A pool's config is applied to all its machines: a user who can edit pools must not be able to give workers the config
 * of the masters, or a single MachineConfig in place of a rendered one. Rollout, server and daemon check it too. Nor
 * may one rewrite the stored rollout: it would skip the canary, ignore failures, and serve an untried config at first
 * boot. A file that was exported earlier and is applied again would do that by accident.
 */
export const poolConfigPolicy = (exempt: readonly Identity[]): PolicyDefinition<MachineConfigPool> => ({
  name: 'pool-config-guards',
  description: `Only the controllers write the annotations ${rolloutAnnotations.join(', ')} of a pool, and only the render controller changes its spec.configuration.`,
  resource: machineConfigPools,
  operations: ['CREATE', 'UPDATE'],
  covers: 'everything',
  exempt,
  variables: [
    {
      name: 'annotationsBefore',
      expression: "request.operation == 'CREATE' ? {} : oldObject.metadata.?annotations.orValue({})",
    },
    { name: 'annotationsAfter', expression: 'object.metadata.?annotations.orValue({})' },
    {
      name: 'changed',
      // Tools that replace a pool as a whole remove them: the rollout restarts with its canary, and nothing untried is
      // served. A held target stays: without it, machines would get what was rolled back.
      expression: `${celList(rolloutAnnotations)}.filter(name, variables.annotationsBefore[?name] != variables.annotationsAfter[?name] && (name in variables.annotationsAfter || name == '${targetConfigAnnotation}'))`,
    },
    { name: 'prefix', expression: `'${RENDERED_PREFIX}' + object.metadata.name + '-'` },
    { name: 'config', expression: configOf('object') },
    { name: 'before', expression: `request.operation == 'CREATE' ? '' : ${configOf('oldObject')}` },
  ],
  validations: [
    {
      expression: 'size(variables.changed) == 0',
      message: `only the controllers write the annotations ${rolloutAnnotations.join(', ')} of a pool. ${ASK_FOR_A_TARGET}`,
      messageExpression: `'only the controllers write the annotation ' + variables.changed.join(', ') + ' of pool ' + object.metadata.name + '. ' + (request.operation == 'CREATE' ? 'Omit it from a new pool' : '${ASK_FOR_A_TARGET}. Omit it from files for kubectl apply')`,
      field: 'metadata.annotations',
      refuses: ({ metadata: { name, annotations = {} } }) => {
        const written = rolloutAnnotations.filter((annotation) => Object.hasOwn(annotations, annotation));
        return written.length === 0
          ? undefined
          : `only the controllers write the annotation ${written.join(', ')} of pool ${name}. Omit it from a new pool`;
      },
    },
    {
      // Of an existing pool, not even another config of the same pool: a file with the config of the day on which it was
      // exported, applied again and again, would move all machines there and back.
      // The last dash ends the name of the pool: worker must not get a config of worker-gpu.
      expression:
        "variables.config == '' || variables.config == variables.before || (request.operation == 'CREATE' && variables.config.startsWith(variables.prefix) && variables.config.substring(size(variables.prefix)).matches('^[^-]+$'))",
      message: 'only the render controller changes spec.configuration.name of a pool. Omit spec.configuration',
      messageExpression:
        "'spec.configuration.name of pool ' + object.metadata.name + ': ' + (request.operation == 'CREATE' ? 'expected a rendered MachineConfig of this pool, ' + variables.prefix + '…' : 'only the render controller changes it') + ', found ' + variables.config + '. Omit spec.configuration: the render controller sets it'",
      field: 'spec.configuration.name',
      refuses: ({ metadata: { name }, spec }) => {
        const config = spec.configuration?.name ?? '';
        const prefix = `${RENDERED_PREFIX}${name}-`;
        if (config === '' || (config.startsWith(prefix) && /^[^-]+$/.test(config.slice(prefix.length))))
          return undefined;
        return `expected a rendered MachineConfig of this pool, ${prefix}…, found ${config}. Omit spec.configuration: the render controller sets it`;
      },
    },
  ],
});
