// How one machine stands to the target of its pool.
import type { Hold, NodeFacts } from './facts.ts';

export type NodeStateKind =
  /** Has it, and works. */
  | 'well'
  /** Was given it and is on its way, or has it and does not work yet. */
  | 'moving'
  /** Was given it and could not. */
  | 'failed'
  /** Runs it, but was told of another one or of none: telling it changes nothing. */
  | 'same'
  /** Failed, and is in service as before. */
  | 'resting'
  /** On its way to another one, or out of service for it: turning it round costs nothing more. */
  | 'astray'
  /** Could be taken out of service. */
  | 'available'
  /** Out of service at a config that may be the reason, so that the target may mend it. */
  | 'broken'
  /** Comes back by itself: its daemon or its drain is at work. */
  | 'busy'
  /** Cannot have a turn as it is. */
  | 'skipped';

export interface NodeState {
  readonly node: NodeFacts;
  readonly standing: NodeStateKind;
  readonly isUnavailable: boolean;
  /** When time alone changes it; null: never. */
  readonly changesAt: number | null;
}

export interface StateContext {
  readonly target: string;
  readonly now: number;
  /** The config that every machine of the pool last had. */
  readonly proven: string | null;
  /** Why the target is a held one; null: it is the newest. */
  readonly hold: Hold | null;
}

/** How long a machine on its way may be away before it counts as failed: firmware of large machines takes 20 minutes. */
const AWAY_MS = 30 * 60_000;
/** How long a machine that had failed before may take to say something about its new config. */
const STALE_MS = 2 * 60_000;

/** Counts against maxUnavailable. */
export function isUnavailable({ isReady, isCordoned, state, current, desired }: NodeFacts): boolean {
  if (!isReady || isCordoned || state !== 'Done' || current === null) return true;
  return desired !== null && desired !== current;
}

export const isFailing = ({ state }: NodeFacts): boolean => state === 'Degraded' || state === 'Unreconcilable';

export const isCordonedByPerson = ({ isCordoned, isCordonedByUs }: NodeFacts): boolean => isCordoned && !isCordonedByUs;

/** Out of service, and so it stays: who is on the way comes back. */
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
  readonly standing: 'well' | 'moving' | 'failed';
  readonly changesAt?: number | null;
}

function computeAssignedState(node: NodeFacts, { target, now }: StateContext): AssignedState {
  if (isFailing(node)) return computeFailingState(node, now);
  const isThere = node.current === target && node.state === 'Done';
  if (isThere && node.isReady && !node.isCordonedByUs) return { standing: 'well' };
  if (node.isReady || node.current === target) return { standing: 'moving' };
  return computeAwayState(node, now);
}

function computeFailingState({ wasFailing, givenAt }: NodeFacts, now: number): AssignedState {
  const believedFrom = wasFailing && givenAt !== null ? givenAt + STALE_MS : now;
  return now < believedFrom ? { standing: 'moving', changesAt: believedFrom } : { standing: 'failed' };
}

/** A machine that was away before it was given the target is away for another reason. */
function computeAwayState({ readyChangedAt, givenAt }: NodeFacts, now: number): AssignedState {
  if (givenAt !== null && readyChangedAt < givenAt) return { standing: 'moving' };
  const failsAt = readyChangedAt + AWAY_MS;
  return now < failsAt ? { standing: 'moving', changesAt: failsAt } : { standing: 'failed' };
}

function classifyUnassigned(node: NodeFacts, measure: StateContext): NodeStateKind {
  const { current, desired } = node;
  if (node.isBeingDeleted) return 'skipped';
  if (current === measure.target) return 'same';
  if (isCordonedByPerson(node)) return 'skipped';
  if (desired !== null && desired !== current) return isResting(node) ? 'resting' : 'astray';
  return current === null ? 'skipped' : classifySettled(node, current, measure);
}

const isResting = (node: NodeFacts): boolean => isFailing(node) && node.isReady && !node.isCordoned;

/** Of a machine that is at the config it was told to have. */
function classifySettled(node: NodeFacts, current: string, measure: StateContext): NodeStateKind {
  // One that is degraded where it is would only fail again; but those that go back leave nobody behind.
  if (isFailing(node) && !isReverting(measure.hold)) return 'skipped';
  if (!node.isReady) return mayRepair(current, measure) ? 'broken' : 'skipped';
  if (isResting(node)) return 'resting';
  return node.state === 'Done' && !node.isCordoned ? 'available' : 'busy';
}

/** Who goes back wants the machines mended that another config broke; and so does who corrects one that few machines have. */
const mayRepair = (config: string, { hold, proven }: StateContext): boolean =>
  hold !== null || (proven !== null && config !== proven);

/** The way back to what the machines had: at once, and no machine that fails can make it worse. */
export const isReverting = (hold: Hold | null): boolean => hold !== null && hold.kind !== 'rollback';

// Machines in a sentence.

const MAX_NAMES = 3;

/** The first few by name, and how many more. There may be thousands: they are not sorted for three. */
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
