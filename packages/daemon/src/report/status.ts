// The status of a MachineConfigNode. Its conditions are the steps of an update, in order.
import { truncate } from '@slipway/base/text';
import type { MachineConfigNode } from '@slipway/api';
import { NOT_YET_SET } from '@slipway/api/names';
import type { Irreconcilable } from '@slipway/fleet';
import { type Condition, setCondition } from '@slipway/kube';
import {
  maskSnapshot,
  type NodeSnapshot,
  type Phase,
  phases,
  type SnapshotProblem,
  type UpdateScope,
} from './snapshot.ts';

export interface StatusPatch {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly configVersion: { readonly current?: string; readonly desired: string };
  /** Null: there are none, and the field is removed. */
  readonly irreconcilableChanges: readonly IrreconcilableChange[] | null;
}

export function computeStatus(
  { metadata, status }: Pick<MachineConfigNode, 'metadata' | 'status'>,
  reported: NodeSnapshot,
  now: Date,
): StatusPatch {
  const snapshot = maskSnapshot(reported);
  const { currentConfig, desiredConfig } = snapshot;
  const changes = toIrreconcilableChanges(snapshot.irreconcilable);
  const current = currentConfig ?? status?.configVersion?.current;
  return {
    observedGeneration: metadata.generation ?? 1,
    conditions: computeConditions(status?.conditions, snapshot, now),
    configVersion: { ...(current !== undefined && { current }), desired: desiredConfig ?? NOT_YET_SET },
    irreconcilableChanges: changes.length === 0 ? null : changes,
  };
}

type ConditionUpdate = Omit<Condition, 'lastTransitionTime'> & { reason: string; message: string };

interface ConditionStep {
  readonly type: string;
  /** The condition that this step is part of. */
  readonly parent?: string;
  /** The condition is Unknown from this phase, and True from `doneAt`. */
  readonly from: Phase;
  readonly doneAt: Phase;
  /** Left out: every update needs it. */
  readonly needed?: (update: UpdateScope) => boolean;
  readonly doing: (update: UpdateScope) => string;
  readonly done: (update: UpdateScope) => string;
}

const steps: readonly ConditionStep[] = [
  {
    type: 'UpdatePrepared',
    from: 'preparing',
    doneAt: 'draining',
    doing: ({ target }) => `Planning, checking and downloading the update to ${target}`,
    done: ({ target }) => `The update to ${target} is prepared, and nothing blocks it`,
  },
  {
    type: 'UpdateExecuted',
    from: 'draining',
    doneAt: 'post action',
    doing: ({ target }) => `Applying ${target}`,
    done: ({ target }) => `${target} is applied to the machine`,
  },
  {
    type: 'Cordoned',
    parent: 'UpdateExecuted',
    from: 'draining',
    doneAt: 'applying files',
    needed: ({ drain }) => drain,
    doing: () => 'Waiting for the controller to cordon the node',
    done: () => 'The node is cordoned',
  },
  {
    type: 'Drained',
    parent: 'UpdateExecuted',
    from: 'draining',
    doneAt: 'applying files',
    needed: ({ drain }) => drain,
    doing: () => 'Waiting for the controller to drain the node',
    done: () => 'The node is drained',
  },
  {
    type: 'AppliedFiles',
    parent: 'UpdateExecuted',
    from: 'applying files',
    doneAt: 'applying os',
    doing: () => 'Writing files, units and keys',
    done: () => 'Files, units and keys are written',
  },
  {
    type: 'AppliedOSImage',
    parent: 'UpdateExecuted',
    from: 'applying os',
    doneAt: 'post action',
    needed: ({ os }) => os,
    doing: () => 'Staging the operating system for the next boot',
    done: () => 'The operating system is staged for the next boot',
  },
  {
    type: 'AppliedFilesAndOS',
    parent: 'UpdateExecuted',
    from: 'applying files',
    doneAt: 'post action',
    doing: () => 'Changing files, units, keys and the operating system to the new config',
    done: () => 'Files, units, keys and the operating system match the new config',
  },
  {
    type: 'ImagePulledFromRegistry',
    parent: 'UpdateExecuted',
    // Before the drain, so that no drained node waits for a download.
    from: 'preparing',
    doneAt: 'draining',
    needed: ({ image }) => image,
    doing: () => 'Downloading the operating system image',
    done: () => 'The operating system image is downloaded',
  },
  {
    type: 'UpdatePostActionComplete',
    from: 'post action',
    doneAt: 'verifying',
    needed: ({ reboot, postAction }) => reboot || postAction !== '',
    doing: ({ reboot, postAction }) => (reboot ? 'The machine is rebooting' : `Running: ${postAction}`),
    done: ({ reboot, postAction }) => (reboot ? 'The machine has rebooted' : `Done: ${postAction}`),
  },
  {
    type: 'RebootedNode',
    parent: 'UpdatePostActionComplete',
    from: 'rebooting',
    doneAt: 'verifying',
    needed: ({ reboot }) => reboot,
    doing: ({ target }) => `The machine is rebooting into ${target}`,
    done: ({ target }) => `The machine has rebooted into ${target}`,
  },
  {
    type: 'UpdateComplete',
    from: 'verifying',
    doneAt: 'resumed',
    doing: ({ target }) => `Verifying the machine against ${target}`,
    done: ({ target }) => `The machine was verified and matches ${target}`,
  },
  {
    type: 'Uncordoned',
    parent: 'UpdateComplete',
    from: 'uncordoning',
    doneAt: 'resumed',
    needed: ({ drain }) => drain,
    doing: () => 'Waiting for the controller to uncordon the node',
    done: () => 'The node is uncordoned',
  },
  {
    type: 'Resumed',
    from: 'resumed',
    doneAt: 'resumed',
    doing: () => '',
    done: ({ target }) => `The node is back in service with ${target}`,
  },
];

const order = [
  ...steps.slice(0, -1).map(({ type }) => type),
  'Updated',
  'Resumed',
  'NodeDegraded',
  'PinnedImageSetsProgressing',
  'PinnedImageSetsDegraded',
];

/** All conditions in order, followed by those of other controllers. Returns the same list object if nothing changes. */
export function computeConditions(
  before: readonly Condition[] | undefined,
  snapshot: NodeSnapshot,
  now: Date,
): readonly Condition[] {
  const old = before ?? [];
  const wanted = [
    ...steps.flatMap((step) => computeStepCondition(step, snapshot, findCondition(old, step.type)) ?? []),
    computeUpdatedCondition(snapshot),
    computeDegradedCondition(snapshot.problem),
    ...['PinnedImageSetsProgressing', 'PinnedImageSetsDegraded'].flatMap((type) =>
      findCondition(old, type) === undefined ? [asExpected(type)] : [],
    ),
  ];
  return sortConditions(wanted.reduce((list, update) => setCondition(list, update, now), old));
}

const findCondition = (list: readonly Condition[], type: string): Condition | undefined =>
  list.find((condition) => condition.type === type);

/** Null: it stays unchanged. */
function computeStepCondition(
  step: ConditionStep,
  snapshot: NodeSnapshot,
  old: Condition | undefined,
): ConditionUpdate | null {
  const { update, phase, drainBlocked = '' } = snapshot;
  if (update === null || phase === 'idle') return afterUpdate(step, old);
  if (step.needed?.(update) === false) {
    return {
      type: step.type,
      status: 'False',
      reason: 'NotRequired',
      message: `The update to ${update.target} does not need this step`,
    };
  }
  if (step.type === 'Drained' && phase === 'draining' && drainBlocked !== '') {
    return { type: step.type, status: 'False', reason: DRAIN_IS_BLOCKED, message: drainBlocked };
  }
  return withDownload(duringUpdate(step, update, phase, snapshot.problem), snapshot);
}

const DRAIN_IS_BLOCKED = 'DrainBlocked';

/** Adds the download progress to the steps that are in progress. */
function withDownload(condition: ConditionUpdate, { phase, download = '' }: NodeSnapshot): ConditionUpdate {
  if (phase !== 'preparing' || condition.status !== 'Unknown' || download === '') return condition;
  return { ...condition, message: `${condition.message}: ${download}` };
}

/** After an update no step is in progress. The last message stays, marked as past. */
function afterUpdate({ type }: ConditionStep, old: Condition | undefined): ConditionUpdate | null {
  if (old === undefined) return notYet(type);
  if (old.status === 'False' && old.reason !== DRAIN_IS_BLOCKED) return null;
  const lastMessage = old.message ?? '';
  return { type, status: 'False', reason: type, message: `In the last update: ${lastMessage}` };
}

const notYet = (type: string): ConditionUpdate => ({
  type,
  status: 'False',
  reason: 'NotYetOccurred',
  message: 'The node has not reached this step',
});

function duringUpdate(
  step: ConditionStep,
  update: UpdateScope,
  phase: Phase,
  problem: SnapshotProblem | null,
): ConditionUpdate {
  const { type, from, doneAt } = step;
  const [at, first, last] = [phases.indexOf(phase), phases.indexOf(from), phases.indexOf(doneAt)];
  if (at < first) return notYet(type);
  if (problem?.undo !== undefined) return undone(type, problem.undo);
  const reason = `${step.parent ?? ''}${type}`;
  if (at >= last) return { type, status: 'True', reason, message: step.done(update) };
  if (problem !== null)
    return {
      type,
      status: 'False',
      reason: problem.code,
      message: 'Stopped at this step; see NodeDegraded for the reason',
    };
  return { type, status: 'Unknown', reason, message: step.doing(update) };
}

const undone = (type: string, undo: 'under way' | 'done'): ConditionUpdate =>
  undo === 'done'
    ? { type, status: 'False', reason: 'RolledBack', message: 'Rolled back; see NodeDegraded for the reason' }
    : { type, status: 'Unknown', reason: 'RollingBack', message: 'Rolling back; see NodeDegraded for the reason' };

function computeUpdatedCondition({ phase, problem, currentConfig, desiredConfig }: NodeSnapshot): ConditionUpdate {
  const at = currentConfig ?? 'an unknown config';
  const isThere = phase === 'idle' && problem === null && currentConfig !== null && currentConfig === desiredConfig;
  if (isThere) return { type: 'Updated', status: 'True', reason: 'Updated', message: `The node runs ${at}` };
  return {
    type: 'Updated',
    status: 'False',
    reason: 'Updated',
    message: describeNotUpdated(at, desiredConfig, problem),
  };
}

function describeNotUpdated(at: string, desiredConfig: string | null, problem: SnapshotProblem | null): string {
  if (desiredConfig === null) return `The node runs ${at}. No controller has assigned a config to it yet`;
  const aim =
    at === desiredConfig
      ? `The desired config is ${at}`
      : `The node runs ${at}; the desired config is ${desiredConfig}`;
  return problem === null ? aim : `${aim}. See NodeDegraded for what blocks it`;
}

const asExpected = (type: string): ConditionUpdate => ({ type, status: 'False', reason: 'AsExpected', message: '' });

const computeDegradedCondition = (problem: SnapshotProblem | null): ConditionUpdate =>
  problem === null
    ? asExpected('NodeDegraded')
    : { type: 'NodeDegraded', status: 'True', reason: problem.code, message: problem.message };

function sortConditions(list: readonly Condition[]): readonly Condition[] {
  const place = ({ type }: Condition): number => (order.includes(type) ? order.indexOf(type) : order.length);
  const sorted = list.toSorted((a, b) => place(a) - place(b));
  return sorted.every((condition, index) => condition === list[index]) ? list : sorted;
}

interface IrreconcilableChange {
  readonly fieldPath: string;
  readonly diff: string;
}

const MAX_CHANGES = 32;
const MAX_PATH = 70;
const MAX_DIFF = 4096;

/** Each path is unique. Characters that the API does not allow, as in a device path, are dropped; the diff has them. */
function toIrreconcilableChanges(found: readonly Irreconcilable[]): IrreconcilableChange[] {
  const taken = new Set<string>();
  return found.slice(0, MAX_CHANGES).map(({ field, before, after }) => {
    const fieldPath = findFreePath(toFieldPath(field), taken);
    taken.add(fieldPath);
    return { fieldPath, diff: truncate(`${field}: ${before ?? 'none'} → ${after ?? 'none'}`, MAX_DIFF) };
  });
}

/** Keeps letters, digits, dots and brackets. */
function toFieldPath(field: string): string {
  const allowed = field.replaceAll(/[^0-9a-zA-Z.[\]]/g, '').slice(0, MAX_PATH);
  return allowed.startsWith('spec.') ? allowed : `spec.${allowed}`.slice(0, MAX_PATH);
}

function findFreePath(path: string, taken: ReadonlySet<string>): string {
  for (let number = 1, free = path; ; number += 1) {
    if (!taken.has(free)) return free;
    const end = `[${number}]`;
    free = path.slice(0, MAX_PATH - end.length) + end;
  }
}
