// The state of a node at one moment, as reported to the cluster.
import { maskSecrets } from '@slipway/base/masking';
import { oneLine } from '@slipway/base/text';
import { type Change, type Irreconcilable, needsReboot, type NodeAction, type UpdatePlan } from '@slipway/fleet';

/** In the order of an update. Phases that an update does not need are skipped. */
export const phases = [
  'idle',
  /** Plans, checks and downloads; the machine is not touched. */
  'preparing',
  /** Waits for the controller to cordon and drain. */
  'draining',
  'applying files',
  'applying os',
  /** Reloads and restarts the affected services. */
  'post action',
  /** Shuts down, or has not booted yet. */
  'rebooting',
  /** Compares the machine with the new config. */
  'verifying',
  /** Waits for the controller to uncordon the node. */
  'uncordoning',
  /** The update is complete. `idle` follows. */
  'resumed',
] as const;
export type Phase = (typeof phases)[number];

/** The phases that an update needs. */
export interface UpdateScope {
  readonly target: string;
  readonly drain: boolean;
  readonly os: boolean;
  /** The update downloads an OS image. */
  readonly image: boolean;
  readonly reboot: boolean;
  /** Human-readable, for example `restart crio.service`. '' if nothing or a reboot follows. */
  readonly postAction: string;
}

export interface SnapshotProblem {
  readonly state: 'Degraded' | 'Unreconcilable';
  /** SLW_… */
  readonly code: string;
  /** Human-readable, with secrets masked. */
  readonly message: string;
  /** Set if the update failed: `under way` while it is rolled back, `done` once the machine is exactly as before. */
  readonly undo?: 'under way' | 'done';
}

export interface NodeSnapshot {
  /** The verified config of the machine. Null: unknown, keep the reported one. */
  readonly currentConfig: string | null;
  readonly desiredConfig: string | null;
  readonly phase: Phase;
  /** The update that `phase` belongs to. Null in the phase `idle`. */
  readonly update: UpdateScope | null;
  readonly problem: SnapshotProblem | null;
  /** `drain-…` or `uncordon-…`. Null: keep the reported one. */
  readonly desiredDrain: string | null;
  /** In the phase `draining`: what blocks the drain, as the controller reports it. '' or left out: nothing. */
  readonly drainBlocked?: string;
  /** In the phase `preparing`: the progress of the download, human-readable. '' or left out: no download. */
  readonly download?: string;
  readonly irreconcilable: readonly Irreconcilable[];
}

/**
 * The snapshot as it may leave the node: texts are masked and of one line. Every object and event of the cluster is
 * built from this.
 */
export function maskSnapshot(snapshot: NodeSnapshot): NodeSnapshot {
  const { problem, drainBlocked, download, irreconcilable } = snapshot;
  const mask = (value: string | null): string | null => (value === null ? null : maskSecrets(value));
  return {
    ...snapshot,
    problem: problem === null ? null : { ...problem, message: toClusterText(problem.message) },
    ...(drainBlocked !== undefined && { drainBlocked: toClusterText(drainBlocked) }),
    ...(download !== undefined && { download: toClusterText(download) }),
    irreconcilable: irreconcilable.map((change) =>
      Object.assign({}, change, { before: mask(change.before), after: mask(change.after) }),
    ),
  };
}

/** A text for an annotation, a condition or an event. */
export const toClusterText = (text: string): string => oneLine(maskSecrets(text));

export function buildUpdateScope(plan: UpdatePlan): UpdateScope {
  const reboot = needsReboot(plan.actions);
  return {
    target: plan.to,
    drain: plan.needsDrain,
    os: plan.changes.some(isOSChange),
    image: plan.changes.some((change) => change.kind === 'setting' && change.setting === 'osImageURL'),
    reboot,
    postAction: reboot ? '' : plan.actions.flatMap(describeAction).join(', '),
  };
}

/** A new extensions image alone changes nothing. */
function isOSChange(change: Change): boolean {
  switch (change.kind) {
    case 'setting':
      return change.setting !== 'baseOSExtensionsContainerImage';
    case 'kernel arguments':
    case 'extensions':
      return true;
    case 'path':
    case 'unit':
    case 'ssh keys':
    case 'password':
      return false;
  }
}

function describeAction(action: NodeAction): string[] {
  switch (action.type) {
    case 'DaemonReload':
      return ['daemon-reload'];
    case 'Reload':
      return [`reload ${action.unit}`];
    case 'Restart':
      return [`restart ${action.unit}`];
    case 'Drain':
    case 'Reboot':
      // They have separate phases.
      return [];
  }
}
