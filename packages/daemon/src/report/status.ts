// The status of a MachineConfigNode: its conditions are the steps of an update as users know them, in their order.
import { truncate } from '@slipway/base/text';
import type { MachineConfigNode } from '@slipway/api';
import { NOT_YET_SET } from '@slipway/api/names';
import type { Irreconcilable } from '@slipway/fleet';
import { type Condition, setCondition } from '@slipway/kube';
import { type NodeSnapshot, type Phase, phases, type SnapshotProblem, type UpdateScope } from './snapshot.ts';

export interface StatusPatch {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly configVersion: { readonly current?: string; readonly desired: string };
  /** Null: there are none, and the field goes. */
  readonly irreconcilableChanges: readonly IrreconcilableChange[] | null;
}

export function computeStatus(
  { metadata, status }: Pick<MachineConfigNode, 'metadata' | 'status'>,
  snapshot: NodeSnapshot,
  now: Date,
): StatusPatch {
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
  /** The step that this one is a part of. */
  readonly parent?: string;
  /** Unknown from this phase on, True from that one on. */
  readonly from: Phase;
  readonly doneAt: Phase;
  /** Left out: every update has it. */
  readonly needed?: (update: UpdateScope) => boolean;
  readonly doing: (update: UpdateScope) => string;
  readonly done: (update: UpdateScope) => string;
}

const steps: readonly ConditionStep[] = [
  {
    type: 'UpdatePrepared',
    from: 'preparing',
    doneAt: 'draining',
    doing: ({ target }) => `The update to ${target} is being planned and checked, and what it needs downloaded`,
    done: ({ target }) => `The update to ${target} is planned, and nothing stands in its way`,
  },
  {
    type: 'UpdateExecuted',
    from: 'draining',
    doneAt: 'post action',
    doing: ({ target }) => `The node is being brought to ${target}`,
    done: ({ target }) => `All of ${target} is on the machine`,
  },
  {
    type: 'Cordoned',
    parent: 'UpdateExecuted',
    from: 'draining',
    doneAt: 'applying files',
    needed: ({ drain }) => drain,
    doing: () => 'The controller has been asked to keep new pods away',
    done: () => 'No new pods are placed on the node',
  },
  {
    type: 'Drained',
    parent: 'UpdateExecuted',
    from: 'draining',
    doneAt: 'applying files',
    needed: ({ drain }) => drain,
    doing: () => 'The controller has been asked to evict the pods of the node',
    done: () => 'The pods of the node were evicted',
  },
  {
    type: 'AppliedFiles',
    parent: 'UpdateExecuted',
    from: 'applying files',
    doneAt: 'applying os',
    doing: () => 'Files, units and keys are being written',
    done: () => 'Files, units and keys are written',
  },
  {
    type: 'AppliedOSImage',
    parent: 'UpdateExecuted',
    from: 'applying os',
    doneAt: 'post action',
    needed: ({ os }) => os,
    doing: () => 'The operating system is being prepared for the next boot',
    done: () => 'The operating system is ready for the next boot',
  },
  {
    type: 'AppliedFilesAndOS',
    parent: 'UpdateExecuted',
    from: 'applying files',
    doneAt: 'post action',
    doing: () => 'Files, units, keys and the operating system are being brought to the new config',
    done: () => 'Files, units, keys and the operating system are those of the new config',
  },
  {
    type: 'ImagePulledFromRegistry',
    parent: 'UpdateExecuted',
    // Before the drain, so that no node is empty while it downloads.
    from: 'preparing',
    doneAt: 'draining',
    needed: ({ image }) => image,
    doing: () => 'The image of the operating system is being downloaded',
    done: () => 'The image of the operating system is on the machine',
  },
  {
    type: 'UpdatePostActionComplete',
    from: 'post action',
    doneAt: 'verifying',
    needed: ({ reboot, postAction }) => reboot || postAction !== '',
    doing: ({ reboot, postAction }) => (reboot ? 'The machine reboots' : `Being done: ${postAction}`),
    done: ({ reboot, postAction }) => (reboot ? 'The machine has rebooted' : `Done: ${postAction}`),
  },
  {
    type: 'RebootedNode',
    parent: 'UpdatePostActionComplete',
    from: 'rebooting',
    doneAt: 'verifying',
    needed: ({ reboot }) => reboot,
    doing: ({ target }) => `The machine reboots into ${target}`,
    done: ({ target }) => `The machine has rebooted into ${target}`,
  },
  {
    type: 'UpdateComplete',
    from: 'verifying',
    doneAt: 'resumed',
    doing: ({ target }) => `The machine is being compared with ${target}, and goes back to work`,
    done: ({ target }) => `The machine was compared with ${target}: it is exactly that`,
  },
  {
    type: 'Uncordoned',
    parent: 'UpdateComplete',
    from: 'uncordoning',
    doneAt: 'resumed',
    needed: ({ drain }) => drain,
    doing: () => 'The controller has been asked to let pods come back',
    done: () => 'Pods may come back',
  },
  {
    type: 'Resumed',
    from: 'resumed',
    doneAt: 'resumed',
    doing: () => '',
    done: ({ target }) => `The node is back at work with ${target}`,
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

/** All conditions, in order, those of others behind them; the same list object where nothing changes. */
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

/** Null: it stays as it is. */
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
      message: `The update to ${update.target} does without it`,
    };
  }
  if (step.type === 'Drained' && phase === 'draining' && drainBlocked !== '') {
    return { type: step.type, status: 'False', reason: DRAIN_IS_BLOCKED, message: drainBlocked };
  }
  return withDownload(duringUpdate(step, update, phase, snapshot.problem), snapshot);
}

const DRAIN_IS_BLOCKED = 'DrainBlocked';

/** Of the steps that a node is in while it prepares. */
function withDownload(condition: ConditionUpdate, { phase, download = '' }: NodeSnapshot): ConditionUpdate {
  if (phase !== 'preparing' || condition.status !== 'Unknown' || download === '') return condition;
  return { ...condition, message: `${condition.message}: ${download}` };
}

/** When all is over, the steps are none that the node is in; what they last said is kept, as the past that it is. */
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
  message: 'The node has not come to this step',
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
    return { type, status: 'False', reason: problem.code, message: 'Stopped here: NodeDegraded says why' };
  return { type, status: 'Unknown', reason, message: step.doing(update) };
}

const undone = (type: string, undo: 'under way' | 'done'): ConditionUpdate =>
  undo === 'done'
    ? { type, status: 'False', reason: 'RolledBack', message: 'Taken back: NodeDegraded says why' }
    : { type, status: 'Unknown', reason: 'RollingBack', message: 'Being taken back: NodeDegraded says why' };

function computeUpdatedCondition({ phase, problem, currentConfig, desiredConfig }: NodeSnapshot): ConditionUpdate {
  const at = currentConfig ?? 'a config that is not known yet';
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
  if (desiredConfig === null) return `The node runs ${at}, and no controller has said yet what it shall run`;
  const aim = at === desiredConfig ? `The node is to run ${at}` : `The node runs ${at} and is to run ${desiredConfig}`;
  return problem === null ? aim : `${aim}: NodeDegraded says what is in the way`;
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

/** Each path once. Keys in brackets, such as a device, become what the API allows; the diff says them in full. */
function toIrreconcilableChanges(found: readonly Irreconcilable[]): IrreconcilableChange[] {
  const taken = new Set<string>();
  return found.slice(0, MAX_CHANGES).map(({ field, before, after }) => {
    const fieldPath = findFreePath(toFieldPath(field), taken);
    taken.add(fieldPath);
    return { fieldPath, diff: truncate(`${field}: ${before ?? 'not there'} → ${after ?? 'not there'}`, MAX_DIFF) };
  });
}

/** Letters, digits, dots and brackets. */
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
