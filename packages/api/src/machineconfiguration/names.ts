import { machineConfigurationGroup } from './group.ts';

const known = <N extends string>(name: N) => `${machineConfigurationGroup}/${name}` as const;
const ours = <N extends string>(name: N) => `slipway.dev/${name}` as const;

/** Annotations of a Node, as users know them. */
export const nodeAnnotations = {
  currentConfig: known('currentConfig'),
  desiredConfig: known('desiredConfig'),
  currentImage: known('currentImage'),
  desiredImage: known('desiredImage'),
  state: known('state'),
  reason: known('reason'),
  desiredDrain: known('desiredDrain'),
  lastAppliedDrain: known('lastAppliedDrain'),
  postConfigAction: known('post-config-action'),
} as const;

/** Those that the daemon on the node writes, by its own identity; the others are for controllers. */
export const daemonAnnotations: readonly string[] = [
  nodeAnnotations.currentConfig,
  nodeAnnotations.currentImage,
  nodeAnnotations.state,
  nodeAnnotations.reason,
  nodeAnnotations.desiredDrain,
  nodeAnnotations.postConfigAction,
];

/** What these begin with is ours, on whatever object. */
export const ourPrefixes = [known(''), ours('')] as const;

/** In place of the name of a pool or of a rendered config that is not known yet. */
export const notYetSet = 'not-yet-set';

/** On every MachineConfig that a controller made: the version of that controller. */
export const generatedByAnnotation = known('generated-by-controller-version');
/** On what comes with the operator and not from users. */
export const builtInLabel = known('mco-built-in');

/** On a rendered MachineConfig that a pool, node or MachineSet refers to: it cannot be deleted. The render controller keeps it. */
export const inUseLabel = ours('in-use');
/** On a rendered MachineConfig: the pool it was rendered for. */
export const poolLabel = ours('pool');
/** On a MachineConfig, by its user: another value than before asks to fetch its remote content again. */
export const refreshAnnotation = ours('refresh-remote-content');
/** On a MachineConfig: which snapshot of its remote content was stored last. Written by the remote content controller. */
export const remoteContentAnnotation = ours('remote-content');
/** On a pool: why its MachineConfigs cannot be rendered, as JSON. Written by the render controller, read for the conditions. */
export const renderProblemsAnnotation = ours('render-problems');
/** On a pool: the rendered config its machines are held at, before spec.configuration. Written by the rollout controller. */
export const targetConfigAnnotation = ours('target-config');

/** On the MachineConfiguration `cluster`: what a node does about drift: `leave`, `heal` or `heal-after=10m`. */
export const driftPolicyAnnotation = ours('drift-policy');

/** The prefix that only rendered MachineConfigs have. */
export const renderedPrefix = 'rendered-';
