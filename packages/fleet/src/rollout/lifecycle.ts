// The target config of a pool: the newest, or one that the pool is held at.
import { targetConfigAnnotation } from '@slipway/api/names';
import { parseOsMajor } from '../os-streams/os-major.ts';
import { isRenderedFor } from '../render/rendered-name.ts';
import type { Hold, NodeFacts, PoolFacts, RolloutRecord, RolloutState } from './facts.ts';
import { isFailing, isReverting, type NodeState } from './node-state.ts';
import { computeMaxUnavailable } from './policy.ts';
import { highestMajor } from './read-facts.ts';
import { formatNames } from './node-state.ts';

export interface RolloutTarget {
  /** Null: nothing was rendered yet, or the target was refused. */
  readonly target: string | null;
  /** The config that the pool names and that was not rendered for it; null: there is none. */
  readonly refused: string | null;
  /** The desired value of the annotation. */
  readonly held: string | null;
  readonly hold: Hold | null;
}

export function resolveTarget(pool: PoolFacts, now: number): RolloutTarget {
  const { held, newest } = pool;
  const hold = held === null ? null : resolveHold(pool, held, now);
  if (held === null || hold === null || endsByRender(pool, hold)) return acceptTarget(pool, newest, null);
  return acceptTarget(pool, held, hold);
}

/**
 * Only a config that was rendered for the pool. A refused one is not replaced by another: the pool may be held because
 * the newest one fails.
 */
function acceptTarget(pool: PoolFacts, target: string | null, hold: Hold | null): RolloutTarget {
  if (target !== null && !isRenderedFor(pool.name, target)) {
    return { target: null, refused: target, held: pool.held, hold: null };
  }
  return { target, refused: null, held: hold === null ? null : target, hold };
}

/** Why the target of a pool is refused, and what to do. */
export function describeRefusal({ name, held }: PoolFacts, refused: string): string {
  const field = held === refused ? `annotation ${targetConfigAnnotation}` : 'spec.configuration.name';
  const remediation =
    held === refused
      ? `Remove it with: slipway resume ${name}`
      : 'The render controller corrects it: check that slipway controller is running';
  return `MachineConfigPool ${name}, ${field}: expected a rendered MachineConfig of this pool, such as rendered-${name}-…, found ${refused}. No machine gets it. ${remediation} (SLW_ROLLOUT_TARGET)`;
}

/** Only `resume` ends a hold that a user set by hand: `instead: null` marks it. */
function resolveHold({ state }: PoolFacts, held: string, now: number): Hold {
  if (state !== null && state.target === held && state.hold !== null) return state.hold;
  const at = new Date(now).toISOString();
  return { kind: 'rollback', instead: null, at, why: 'a user set the annotation slipway.dev/target-config' };
}

const endsByRender = ({ policy, newest }: PoolFacts, { instead }: Hold): boolean =>
  policy.hold === 'until-new-render' && instead !== null && newest !== null && newest !== instead;

/** Null: it is the newest, and needs no hold. */
export function holdFor(
  { newest }: PoolFacts,
  target: string,
  { kind, now, why }: { kind: Hold['kind']; now: number; why: string },
): Hold | null {
  return target === newest ? null : { kind, instead: newest, at: new Date(now).toISOString(), why };
}

// How a rollout starts and ends.

export interface RolloutProgress {
  readonly state: RolloutState;
  /** The previous rollout, if it was not finished. */
  readonly ended: RolloutRecord | null;
}

interface Setting {
  readonly pool: PoolFacts;
  readonly nodes: readonly NodeFacts[];
  readonly now: number;
}

const formatTime = (time: number): string => new Date(time).toISOString();
const MAX_WHY = 500;

/** The state for this target: the stored one, or that of a new rollout. */
export function advanceRollout(
  { target, hold }: RolloutTarget & { target: string },
  setting: Setting,
): RolloutProgress {
  const { state } = setting.pool;
  if (state === null || state.target !== target) return startRollout(target, hold, setting);
  // Same target, newly held or released: progress is unaffected.
  const isSame = JSON.stringify(state.hold) === JSON.stringify(hold);
  return { state: isSame ? state : { ...state, hold }, ended: null };
}

export function startRollout(target: string, hold: Hold | null, { pool, nodes, now }: Setting): RolloutProgress {
  const before = pool.state;
  const from = lastGood(pool, nodes, target);
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

/**
 * What the status of a pool names as the config of every machine: it counts only while one of them runs it. A pool
 * without machines reports its target there, as users know it, and no machine has tried that.
 */
export const provenConfig = ({ proven }: Pick<PoolFacts, 'proven'>, nodes: readonly NodeFacts[]): string | null =>
  proven !== null && nodes.some(({ current }) => current === proven) ? proven : null;

/** The last config that every machine had; if there is none yet, the one that the previous rollout started from. */
export function lastGood(pool: PoolFacts, nodes: readonly NodeFacts[], target: string): string | null {
  const proven = provenConfig(pool, nodes);
  if (proven !== null) return proven === target ? null : proven;
  const { state } = pool;
  const before = state?.endedAt === null ? state.from : (state?.target ?? null);
  return before === target ? null : before;
}

function supersededBy(before: RolloutState, next: RolloutState, setting: Setting): RolloutRecord {
  const why = next.hold?.why ?? 'a newer config was rendered';
  return buildRecord(before, 'superseded', `replaced by ${next.target}: ${why}`, setting);
}

/** Every machine has the target. */
export function endRollout(state: RolloutState, setting: Setting): RolloutProgress {
  const ended = { ...state, endedAt: formatTime(setting.now), halted: null, healthySince: null };
  const outcome = state.hold === null ? 'completed' : outcomes[state.hold.kind];
  const why = state.hold?.why ?? 'newest rendered config';
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

/**
 * Every machine had this config before, or is rolling back to it: it needs no canary, and a failure is not the config's
 * fault. `proven` is from `provenConfig`.
 */
export const isKnownGood = (state: RolloutState, proven: string | null): boolean =>
  state.endedAt !== null || proven === state.target || isReverting(state.hold);

// When a rollout halts, continues or rolls back.

const MAX_REASON = 500;

/** Sets or clears `halted`; returns the same object where nothing changes. */
export function haltedState(
  state: RolloutState,
  proven: string | null,
  stands: readonly NodeState[],
  now: number,
): RolloutState {
  if (isKnownGood(state, proven)) return state.halted === null ? state : { ...state, halted: null };
  if (state.halted !== null && !isRepaired(state.halted.node, stands)) return state;
  const failed = firstFailed(state, stands);
  if (failed === null) return state.halted === null ? state : { ...state, halted: null };
  const halted = { at: new Date(now).toISOString(), node: failed.name, reason: describeFailure(failed) };
  return { ...state, halted };
}

/** A halt survives the deletion of the failed machine: a user must decide. */
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

/** A user has resumed the rollout despite this failure. */
export const isTolerated = ({ givenAt }: NodeFacts, { resumedAt }: RolloutState): boolean =>
  resumedAt !== null && (givenAt ?? 0) <= Date.parse(resumedAt);

export function describeFailure(node: NodeFacts): string {
  if (isFailing(node))
    return (node.reason === '' ? `the daemon reports ${node.state}` : node.reason).slice(0, MAX_REASON);
  return `it went down for the update and has not been ready since ${new Date(node.readyChangedAt).toISOString()}: ${node.notReady}`.slice(
    0,
    MAX_REASON,
  );
}

/** Why the machines cannot move to this config automatically; null: nothing is known against it. */
export function downgrade(
  to: { readonly config: string; readonly osMajor: number | null },
  nodes: readonly NodeFacts[],
): string | null {
  const below = highestMajor(nodes, (config) => config === to.config) ?? to.osMajor;
  const above = highestMajor(nodes, (config) => config !== null && config !== to.config);
  if (below === null || above === null || above <= below) return null;
  const names = nodes.filter(({ current, osImage }) => current !== to.config && parseOsMajor(osImage) === above);
  return `${formatNames(names)} ${names.length === 1 ? 'runs' : 'run'} OS version ${above}, but ${to.config} has version ${below}: a machine cannot automatically return to an older major version. Reinstall it, or correct the MachineConfigs (SLW_ROLLOUT_OS_DOWNGRADE)`;
}
