// Which config the machines of a pool are to have: the newest, or one that they are held at.
import { parseOsMajor } from '../os-streams/os-major.ts';
import type { Hold, NodeFacts, PoolFacts, RolloutRecord, RolloutState } from './facts.ts';
import { isFailing, isReverting, type NodeState } from './node-state.ts';
import { computeMaxUnavailable } from './policy.ts';
import { highestMajor } from './read-facts.ts';
import { formatNames } from './node-state.ts';

export interface RolloutTarget {
  /** Null: nothing was rendered yet. */
  readonly target: string | null;
  /** The annotation as it must be. */
  readonly held: string | null;
  readonly hold: Hold | null;
}

export function resolveTarget(pool: PoolFacts, now: number): RolloutTarget {
  const { held, newest } = pool;
  const hold = held === null ? null : resolveHold(pool, held, now);
  if (held === null || hold === null || endsByRender(pool, hold)) return { target: newest, held: null, hold: null };
  return { target: held, held, hold };
}

/** Only `resume` ends what somebody wrote by hand: that it holds `instead` of nothing says so. */
function resolveHold({ state }: PoolFacts, held: string, now: number): Hold {
  if (state !== null && state.target === held && state.hold !== null) return state.hold;
  const at = new Date(now).toISOString();
  return { kind: 'rollback', instead: null, at, why: 'the annotation slipway.dev/target-config was set by hand' };
}

const endsByRender = ({ policy, newest }: PoolFacts, { instead }: Hold): boolean =>
  policy.hold === 'until-new-render' && instead !== null && newest !== null && newest !== instead;

/** Null: it is the newest, and needs no holding. */
export function holdFor(
  { newest }: PoolFacts,
  target: string,
  { kind, now, why }: { kind: Hold['kind']; now: number; why: string },
): Hold | null {
  return target === newest ? null : { kind, instead: newest, at: new Date(now).toISOString(), why };
}

// What is remembered of a rollout: how it begins, and how it ends.

export interface RolloutProgress {
  readonly state: RolloutState;
  /** The one before, that did not come to its end. */
  readonly ended: RolloutRecord | null;
}

interface Setting {
  readonly pool: PoolFacts;
  readonly nodes: readonly NodeFacts[];
  readonly now: number;
}

const formatTime = (time: number): string => new Date(time).toISOString();
const MAX_WHY = 500;

/** The state as it must be for this aim: the stored one, or that of a rollout that begins. */
export function advanceRollout(
  { target, hold }: RolloutTarget & { target: string },
  setting: Setting,
): RolloutProgress {
  const { state } = setting.pool;
  if (state === null || state.target !== target) return startRollout(target, hold, setting);
  // The same target, now held or no longer held: the machines are as far as they were.
  const isSame = JSON.stringify(state.hold) === JSON.stringify(hold);
  return { state: isSame ? state : { ...state, hold }, ended: null };
}

export function startRollout(target: string, hold: Hold | null, { pool, nodes, now }: Setting): RolloutProgress {
  const before = pool.state;
  const from = lastGood(pool, target);
  const state: RolloutState = {
    target,
    from,
    startedAt: formatTime(now),
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
  return buildRecord(before, 'superseded', `${next.target} became the target: ${why}`, setting);
}

/** Every machine has the target. */
export function endRollout(state: RolloutState, setting: Setting): RolloutProgress {
  const ended = { ...state, endedAt: formatTime(setting.now), halted: null, healthySince: null };
  const outcome = state.hold === null ? 'completed' : outcomes[state.hold.kind];
  const why = state.hold?.why ?? 'it is what was rendered last';
  return { state: ended, ended: buildRecord(state, outcome, why, setting) };
}

const outcomes = { return: 'returned', cancel: 'cancelled', rollback: 'rolled back' } as const;

function buildRecord(
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
    endedAt: formatTime(now),
    outcome,
    nodes: state.nodes,
    capacity: pool.isControlPlane ? 1 : computeMaxUnavailable(pool.maxUnavailable, nodes.length),
    why: why.slice(0, MAX_WHY),
  };
}

/** Every machine had this config before, or is on its way back to it: no canary is needed, and a failure says nothing of it. */
export const isKnownGood = (state: RolloutState, { proven }: PoolFacts): boolean =>
  state.endedAt !== null || proven === state.target || isReverting(state.hold);

// When a rollout stops itself, when it goes on, and when it goes back.

const MAX_REASON = 500;

/** The state with its halt as it must be; the same object where nothing changes. */
export function haltedState(
  state: RolloutState,
  pool: PoolFacts,
  stands: readonly NodeState[],
  now: number,
): RolloutState {
  if (isKnownGood(state, pool)) return state.halted === null ? state : { ...state, halted: null };
  if (state.halted !== null && !isRepaired(state.halted.node, stands)) return state;
  const failed = firstFailed(state, stands);
  if (failed === null) return state.halted === null ? state : { ...state, halted: null };
  const halted = { at: new Date(now).toISOString(), node: failed.name, reason: describeFailure(failed) };
  return { ...state, halted };
}

/** A machine that is gone mends nothing: somebody must look. */
const isRepaired = (name: string, stands: readonly NodeState[]): boolean =>
  stands.some(({ node, standing }) => node.name === name && standing === 'well');

function firstFailed(state: RolloutState, stands: readonly NodeState[]): NodeFacts | null {
  let first: NodeFacts | null = null;
  for (const { node, standing } of stands) {
    if (standing !== 'failed' || isTolerated(node, state)) continue;
    if (first === null || node.name < first.name) first = node;
  }
  return first;
}

/** Somebody has seen that it failed, and said to go on. */
export const isTolerated = ({ givenAt }: NodeFacts, { resumedAt }: RolloutState): boolean =>
  resumedAt !== null && (givenAt ?? 0) <= Date.parse(resumedAt);

export function describeFailure(node: NodeFacts): string {
  if (isFailing(node)) return (node.reason === '' ? `its daemon says ${node.state}` : node.reason).slice(0, MAX_REASON);
  return `it went away for the update and has not been ready since ${new Date(node.readyChangedAt).toISOString()}: ${node.notReady}`.slice(
    0,
    MAX_REASON,
  );
}

/** Why the machines cannot go from one config to another by themselves; null: nothing is known against it. */
export function downgrade(
  to: { readonly config: string; readonly osMajor: number | null },
  nodes: readonly NodeFacts[],
): string | null {
  const below = highestMajor(nodes, (config) => config === to.config) ?? to.osMajor;
  const above = highestMajor(nodes, (config) => config !== null && config !== to.config);
  if (below === null || above === null || above <= below) return null;
  const names = nodes.filter(({ current, osImage }) => current !== to.config && parseOsMajor(osImage) === above);
  return `${formatNames(names)} ${names.length === 1 ? 'runs' : 'run'} version ${above} of the OS and ${to.config} brings version ${below}: a machine does not go back over a major version by itself. Install it anew, or correct the MachineConfigs (SLW_ROLLOUT_OS_DOWNGRADE)`;
}
