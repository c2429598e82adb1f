// What the cluster is told about a node at one moment.
import { type Change, type Irreconcilable, needsReboot, type NodeAction, type UpdatePlan } from '@slipway/fleet';

/** In the order in which an update goes through them. Those that an update does not need are left out. */
export const phases = [
  'idle',
  /** Plans, checks and downloads; the machine is not touched. */
  'preparing',
  /** Waits for the controller to cordon and drain. */
  'draining',
  'applying files',
  'applying os',
  /** Reloads and restarts what has to take notice. */
  'post action',
  /** Goes down, or has not come up again. */
  'rebooting',
  /** Looks whether the machine is what it should be now. */
  'verifying',
  /** Waits for the controller to let pods come back. */
  'uncordoning',
  /** All is done, for the record: `idle` comes next. */
  'resumed',
] as const;
export type Phase = (typeof phases)[number];

/** What of the phases an update needs. */
export interface UpdateScope {
  readonly target: string;
  readonly drain: boolean;
  readonly os: boolean;
  /** An image is downloaded for it. */
  readonly image: boolean;
  readonly reboot: boolean;
  /** For people: `restart crio.service`; '' where nothing follows, or a reboot. */
  readonly postAction: string;
}

export interface SnapshotProblem {
  readonly state: 'Degraded' | 'Unreconcilable';
  /** SLW_… */
  readonly code: string;
  /** For people, with secrets masked. */
  readonly message: string;
  /** Of an update that failed: it is being undone, or was, and the machine is exactly what it was before. */
  readonly undo?: 'under way' | 'done';
}

export interface NodeSnapshot {
  /** The config that the machine has, verified; null: not known, what was said before stays. */
  readonly currentConfig: string | null;
  readonly desiredConfig: string | null;
  /** Null: what was said before stays. */
  readonly currentImage?: string | null;
  readonly phase: Phase;
  /** The update that `phase` is of; null in the phase `idle`. */
  readonly update: UpdateScope | null;
  readonly problem: SnapshotProblem | null;
  /** `drain-…` or `uncordon-…`; null: what was said before stays. */
  readonly desiredDrain: string | null;
  /** In the phase `draining`: what the drain waits for, in the controller's words; '' or left out: nothing special. */
  readonly drainBlocked?: string;
  /** In the phase `preparing`: how far the download is, for people; '' or left out: nothing is downloaded. */
  readonly download?: string;
  readonly irreconcilable: readonly Irreconcilable[];
}

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

/** Another image for extensions changes nothing by itself. */
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
      // Phases of their own.
      return [];
  }
}
