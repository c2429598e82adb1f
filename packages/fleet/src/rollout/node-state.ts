// The state of one node relative to the target of its pool.
import type { Hold, NodeFacts } from './facts.ts';

export type NodeStateKind =
  /** Has the target and is healthy. */
  | 'well'
  /** Was assigned the target and is updating, or has it and is not healthy yet. */
  | 'moving'
  /** Was assigned the target and failed. */
  | 'failed'
  /** Was assigned the target and drifted from its config, before the update or after it: the target did not fail. */
  | 'drifted'
  /** Runs the target, but another config or none is assigned: assigning the target changes nothing on it. */
  | 'same'
  /** Failed at another config, and still serves pods. */
  | 'resting'
  /** Updating to another config, or unavailable because of it: redirecting it costs no more capacity. */
  | 'astray'
  /** Healthy: updating it makes it unavailable. */
  | 'available'
  /** Not ready at a config that may be the cause, so the target may repair it. */
  | 'broken'
  /** Recovers automatically: its daemon or its drain is working. */
  | 'busy'
  /** Cannot be updated now. */
  | 'skipped';

export interface NodeState {
  readonly node: NodeFacts;
  readonly standing: NodeStateKind;
  readonly isUnavailable: boolean;
  /** When the state changes without any event; null: never. */
  readonly changesAt: number | null;
}

export interface StateContext {
  readonly target: string;
  readonly now: number;
  /** The last config that every machine of the pool had. */
  readonly proven: string | null;
  /** Why the target is held; null: it is the newest. */
  readonly hold: Hold | null;
}

/** How long an updating machine may be down before it counts as failed: the firmware of large machines takes 20 minutes. */
const AWAY_MS = 30 * 60_000;
/** How long a machine that had failed before may take to report on its new config. */
const STALE_MS = 2 * 60_000;

/** Counts against maxUnavailable. */
export function isUnavailable({ isReady, isCordoned, state, current, desired }: NodeFacts): boolean {
  if (!isReady || isCordoned || state !== 'Done' || current === null) return true;
  return desired !== null && desired !== current;
}

export const isFailing = ({ state }: NodeFacts): boolean => state === 'Degraded' || state === 'Unreconcilable';

export const isCordonedByPerson = ({ isCordoned, isCordonedByUs }: NodeFacts): boolean => isCordoned && !isCordonedByUs;

/** Unavailable until a user acts. An updating machine recovers on its own. */
export const isStuck = (node: NodeFacts): boolean =>
  isCordonedByPerson(node) || (node.current === node.desired && (!node.isReady || isFailing(node)));

export function computeNodeState(node: NodeFacts, measure: StateContext): NodeState {
  const { standing, changesAt = null } =
    node.desired === measure.target
      ? computeAssignedState(node, measure)
      : { standing: classifyUnassigned(node, measure) };
  return { node, standing, isUnavailable: isUnavailable(node), changesAt };
}

interface AssignedState {
  readonly standing: 'well' | 'moving' | 'failed' | 'drifted';
  readonly changesAt?: number | null;
}

/**
 * Drift is no failure of the target: what a config itself changes is found when the update is verified, and
 * what happens later is done by users and programs on the machine. Going back would not help either, because the
 * daemon updates no machine that has drifted.
 */
function computeAssignedState(node: NodeFacts, { target, now }: StateContext): AssignedState {
  if (node.hasDrifted) return { standing: 'drifted' };
  if (isFailing(node)) return computeFailingState(node, now);
  const isThere = node.current === target && node.state === 'Done';
  if (isThere && node.isReady && !node.isCordonedByUs) return { standing: 'well' };
  if (node.isReady || node.current === target) return { standing: 'moving' };
  return computeAwayState(node, now);
}

/** A report may be older than the assignment, unless it names the assigned config. */
function computeFailingState({ wasFailing, givenAt, desired, reportedConfig }: NodeFacts, now: number): AssignedState {
  const mayBeStale = wasFailing && reportedConfig !== desired;
  const believedFrom = mayBeStale && givenAt !== null ? givenAt + STALE_MS : now;
  return now < believedFrom ? { standing: 'moving', changesAt: believedFrom } : { standing: 'failed' };
}

/** A machine that went down before its update changed anything on it is down for another reason. */
function computeAwayState(node: NodeFacts, now: number): AssignedState {
  const { readyChangedAt, givenAt } = node;
  if ((givenAt !== null && readyChangedAt < givenAt) || isUntouched(node)) return { standing: 'moving' };
  const failsAt = readyChangedAt + AWAY_MS;
  return now < failsAt ? { standing: 'moving', changesAt: failsAt } : { standing: 'failed' };
}

/** The daemon reports `Working` before it prepares an update, and changes nothing before the drain. */
const isUntouched = ({ state, awaitsDrain }: NodeFacts): boolean => state === 'Done' || state === null || awaitsDrain;

function classifyUnassigned(node: NodeFacts, measure: StateContext): NodeStateKind {
  const { current, desired } = node;
  if (node.isBeingDeleted) return 'skipped';
  if (current === measure.target) return 'same';
  if (isCordonedByPerson(node)) return 'skipped';
  if (desired !== null && desired !== current) return isResting(node) ? 'resting' : 'astray';
  return current === null ? 'skipped' : classifySettled(node, current, measure);
}

const isResting = (node: NodeFacts): boolean => isFailing(node) && node.isReady && !node.isCordoned;

/** For a machine that runs the config it was assigned. */
function classifySettled(node: NodeFacts, current: string, measure: StateContext): NodeStateKind {
  // A machine that is degraded at its current config would fail again. A rollback includes every machine anyway.
  if (isFailing(node) && !isReverting(measure.hold)) return 'skipped';
  if (!node.isReady) return mayRepair(current, measure) ? 'broken' : 'skipped';
  if (isResting(node)) return 'resting';
  return node.state === 'Done' && !node.isCordoned ? 'available' : 'busy';
}

/** A rollback, or the correction of a config that only some machines have, should repair what that config broke. */
const mayRepair = (config: string, { hold, proven }: StateContext): boolean =>
  hold !== null || (proven !== null && config !== proven);

/** Returning to what the machines had needs no waves: a machine that fails cannot make it worse. */
export const isReverting = (hold: Hold | null): boolean => hold !== null && hold.kind !== 'rollback';

const MAX_NAMES = 3;

/** The first three by name, and how many more. There may be thousands, so the list is not sorted as a whole. */
export function formatNames(nodes: readonly { readonly name: string }[]): string {
  const first: string[] = [];
  for (const { name } of nodes) {
    if (first.length === MAX_NAMES && name >= (first.at(-1) ?? '')) continue;
    first.push(name);
    first.sort();
    first.length = Math.min(first.length, MAX_NAMES);
  }
  const shown = first.join(', ');
  return nodes.length > MAX_NAMES ? `${shown} and ${nodes.length - MAX_NAMES} more` : shown;
}
