// What is remembered of a rollout: how it begins, and how it ends.
import type { Aim } from './hold.ts';
import { isWayBack } from './hold.ts';
import type { Hold, NodeFacts, PoolFacts, RolloutRecord, RolloutState } from './facts.ts';
import { maxUnavailableOf } from './max-unavailable.ts';
import { highestMajor } from './os-version.ts';

export interface Course {
  readonly state: RolloutState;
  /** The one before, that did not come to its end. */
  readonly ended: RolloutRecord | null;
}

interface Setting {
  readonly pool: PoolFacts;
  readonly nodes: readonly NodeFacts[];
  readonly now: number;
}

const isoOf = (time: number): string => new Date(time).toISOString();
const MAX_WHY = 500;

/** The state as it must be for this aim: the stored one, or that of a rollout that begins. */
export function courseTo({ target, hold }: Aim & { target: string }, setting: Setting): Course {
  const { state } = setting.pool;
  if (state === null || state.target !== target) return begin(target, hold, setting);
  // The same target, now held or no longer held: the machines are as far as they were.
  const isSame = JSON.stringify(state.hold) === JSON.stringify(hold);
  return { state: isSame ? state : { ...state, hold }, ended: null };
}

export function begin(target: string, hold: Hold | null, { pool, nodes, now }: Setting): Course {
  const before = pool.state;
  const from = lastGood(pool, target);
  const state: RolloutState = {
    target,
    from,
    startedAt: isoOf(now),
    endedAt: null,
    nodes: nodes.filter(({ current }) => current !== target).length,
    fromOsMajor: from === null ? null : highestMajor(nodes, (config) => config === from),
    wave: 1,
    healthySince: null,
    resumedAt: null,
    halted: null,
    hold,
    answer: before?.answer ?? null,
  };
  const isUnfinished = before !== null && before.endedAt === null;
  return { state, ended: isUnfinished ? supersededBy(before, state, { pool, nodes, now }) : null };
}

/** What every machine last had; before there was such a one, what the rollout before went from. */
export function lastGood({ proven, state }: PoolFacts, target: string): string | null {
  if (proven !== null) return proven === target ? null : proven;
  const before = state?.endedAt === null ? state.from : (state?.target ?? null);
  return before === target ? null : before;
}

function supersededBy(before: RolloutState, next: RolloutState, setting: Setting): RolloutRecord {
  const why = next.hold?.why ?? 'something newer was rendered';
  return recordOf(before, 'superseded', `${next.target} became the target: ${why}`, setting);
}

/** Every machine has the target. */
export function end(state: RolloutState, setting: Setting): Course {
  const ended = { ...state, endedAt: isoOf(setting.now), halted: null, healthySince: null };
  const outcome = state.hold === null ? 'completed' : outcomes[state.hold.kind];
  const why = state.hold?.why ?? 'it is what was rendered last';
  return { state: ended, ended: recordOf(state, outcome, why, setting) };
}

const outcomes = { return: 'returned', cancel: 'cancelled', rollback: 'rolled back' } as const;

function recordOf(
  state: RolloutState,
  outcome: RolloutRecord['outcome'],
  why: string,
  { pool, nodes, now }: Setting,
): RolloutRecord {
  const osMajor = highestMajor(nodes, (config) => config === state.target);
  return {
    config: state.target,
    ...(osMajor !== null && { osMajor }),
    from: state.from,
    startedAt: state.startedAt,
    endedAt: isoOf(now),
    outcome,
    nodes: state.nodes,
    capacity: pool.isControlPlane ? 1 : maxUnavailableOf(pool.maxUnavailable, nodes.length),
    why: why.slice(0, MAX_WHY),
  };
}

/** Every machine had this config before, or is on its way back to it: no canary is needed, and a failure says nothing of it. */
export const isKnownGood = (state: RolloutState, { proven }: PoolFacts): boolean =>
  state.endedAt !== null || proven === state.target || isWayBack(state.hold);
