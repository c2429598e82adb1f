// What must hold of a rollout, read from the objects by themselves: none of it asks the code that is tested.
import {
  cordonedAnnotation,
  type MachineConfigPool,
  type Node,
  nodeAnnotations,
  rolloutStateAnnotation,
  targetConfigAnnotation,
} from '@slipway/api';

const { currentConfig, desiredConfig, desiredDrain, lastAppliedDrain, reason, state } = nodeAnnotations;

export const annotationsOf = ({ metadata }: Pick<Node, 'metadata'>): Readonly<Record<string, string>> =>
  metadata.annotations ?? {};

export const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;

export const isCordoned = ({ spec }: Node): boolean => spec?.unschedulable === true;

/** It was told to change, and has not yet. */
export function isUpdating(node: Node): boolean {
  const { [currentConfig]: current, [desiredConfig]: desired } = annotationsOf(node);
  return desired !== undefined && desired !== current;
}

/** Out of service through our doing: nobody has to be told of that, so no lag excuses it. */
export const isOutThroughUs = (node: Node): boolean =>
  isUpdating(node) || annotationsOf(node)[cordonedAnnotation] !== undefined;

/** Counts against maxUnavailable. */
export const isUnavailable = (node: Node): boolean =>
  !isReady(node) || isCordoned(node) || isUpdating(node) || annotationsOf(node)[state] !== 'Done';

/** Waits for a drain that it has no answer to. */
export function isBeingDrained(node: Node): boolean {
  const { [desiredDrain]: wanted = '', [lastAppliedDrain]: applied } = annotationsOf(node);
  return wanted.startsWith('drain-') && wanted !== applied;
}

export const readTargetConfig = ({ metadata, spec }: MachineConfigPool): string | undefined =>
  metadata.annotations?.[targetConfigAnnotation] ?? spec.configuration?.name;

/** Which machines of a control plane stand for each other. */
const controlPlane: ReadonlySet<string> = new Set(['master', 'arbiter']);
export const isControlPlane = (pool: string): boolean => controlPlane.has(pool);

export function computeMaxUnavailable({ metadata, spec }: MachineConfigPool, machines: number): number {
  if (isControlPlane(metadata.name)) return 1;
  const { maxUnavailable = 1 } = spec;
  if (typeof maxUnavailable === 'number') return Math.max(1, maxUnavailable);
  return Math.max(1, Math.floor((machines * Number.parseInt(maxUnavailable, 10)) / 100));
}

interface RolloutMemory {
  readonly target?: string;
  readonly halted?: object | null;
  readonly hold?: { readonly kind?: string } | null;
  readonly resumedAt?: string | null;
}

const readRolloutMemory = ({ metadata }: MachineConfigPool): RolloutMemory =>
  JSON.parse(metadata.annotations?.[rolloutStateAnnotation] ?? '{}') as RolloutMemory;

/** The target that is given to nobody any more because a machine failed; undefined: none. */
export function haltedTarget(pool: MachineConfigPool): string | undefined {
  const { halted = null, target } = readRolloutMemory(pool);
  return halted === null ? undefined : target;
}

/** Whether a machine that fails at this target stops it: not on the way back, nor after somebody said to go on. */
export function stopsAtFailure(pool: MachineConfigPool, config: string): boolean {
  const { target, hold = null, resumedAt = null } = readRolloutMemory(pool);
  return target === config && hold === null && resumedAt === null;
}

/** It could not apply this config: the model of the daemon names it in its reason. */
export function hasFailedAt(node: Node, config: string): boolean {
  const { [desiredConfig]: desired, [state]: is = '', [reason]: why = '' } = annotationsOf(node);
  return desired === config && ['Degraded', 'Unreconcilable'].includes(is) && why.startsWith(config);
}

/** Has its config, works, and takes pods. */
export function isHealthy(node: Node, target: string | undefined): boolean {
  const { [currentConfig]: current, [desiredConfig]: desired } = annotationsOf(node);
  return current === target && desired === target && !isUnavailable(node);
}
