// What must hold during a rollout, read from the objects directly: nothing here calls the code under test.
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

/** It was assigned a config, and has not reached it. */
export function isUpdating(node: Node): boolean {
  const { [currentConfig]: current, [desiredConfig]: desired } = annotationsOf(node);
  return desired !== undefined && desired !== current;
}

/** Unavailable because of us: the controller knows that without a watch, so no lag excuses it. */
export const isOutThroughUs = (node: Node): boolean =>
  isUpdating(node) || annotationsOf(node)[cordonedAnnotation] !== undefined;

/** Counts against maxUnavailable. */
export const isUnavailable = (node: Node): boolean =>
  !isReady(node) || isCordoned(node) || isUpdating(node) || annotationsOf(node)[state] !== 'Done';

/** Waits for the answer to its drain request. */
export function isBeingDrained(node: Node): boolean {
  const { [desiredDrain]: wanted = '', [lastAppliedDrain]: applied } = annotationsOf(node);
  return wanted.startsWith('drain-') && wanted !== applied;
}

export const readTargetConfig = ({ metadata, spec }: MachineConfigPool): string | undefined =>
  metadata.annotations?.[targetConfigAnnotation] ?? spec.configuration?.name;

/** Which control plane machines share a limit. */
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
  readonly halted?: { readonly reason?: string } | null;
  readonly hold?: { readonly kind?: string; readonly why?: string } | null;
  readonly resumedAt?: string | null;
}

const readRolloutMemory = ({ metadata }: Pick<MachineConfigPool, 'metadata'>): RolloutMemory =>
  JSON.parse(metadata.annotations?.[rolloutStateAnnotation] ?? '{}') as RolloutMemory;

/** The target that is assigned to no further machine because one failed; undefined: none. */
export function haltedTarget(pool: MachineConfigPool): string | undefined {
  const { halted = null, target } = readRolloutMemory(pool);
  return halted === null ? undefined : target;
}

/** Why the rollout of a pool is halted or was rolled back; '' if it is neither. */
export function failureReason(pool: Pick<MachineConfigPool, 'metadata'>): string {
  const { halted = null, hold = null } = readRolloutMemory(pool);
  return halted?.reason ?? (hold?.kind === 'return' ? (hold.why ?? '') : '');
}

/** Whether a failure at this target halts it: not during a rollback, nor after a user's resume. */
export function stopsAtFailure(pool: MachineConfigPool, config: string): boolean {
  const { target, hold = null, resumedAt = null } = readRolloutMemory(pool);
  return target === config && hold === null && resumedAt === null;
}

/** It could not apply this config: the model of the daemon names it in its reason. */
export function hasFailedAt(node: Node, config: string): boolean {
  const { [desiredConfig]: desired, [state]: is = '', [reason]: why = '' } = annotationsOf(node);
  return desired === config && ['Degraded', 'Unreconcilable'].includes(is) && why.startsWith(config);
}

/** Has its config, is healthy, and is schedulable. */
export function isHealthy(node: Node, target: string | undefined): boolean {
  const { [currentConfig]: current, [desiredConfig]: desired } = annotationsOf(node);
  return current === target && desired === target && !isUnavailable(node);
}
