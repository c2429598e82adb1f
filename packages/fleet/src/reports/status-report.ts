// What a node is doing now, from the conditions of its MachineConfigNode.
import type { MachineConfigNode } from '@slipway/api';
import type { NodePhase, NodeVerdict, RolloutDecision } from '../rollout/facts.ts';
import type { DecidedFleet, DecidedPool, NodeOutside } from '../rollout/decide-fleet.ts';
import type { NodeFacts } from '../rollout/facts.ts';
import { isStuck } from '../rollout/node-state.ts';
import { waveSizes } from '../rollout/policy.ts';
import { estimateSeconds } from '../rollout/waves.ts';
import type { FleetSnapshot } from './fleet-snapshot.ts';

/** The last active one is the most specific: parents come before their parts, early steps before late ones. */
const steps: readonly (readonly [type: string, words: string])[] = [
  ['UpdatePrepared', 'preparing'],
  ['ImagePulledFromRegistry', 'downloading the OS image'],
  ['UpdateExecuted', 'applying'],
  ['Cordoned', 'cordoning'],
  ['Drained', 'draining'],
  ['AppliedFilesAndOS', 'applying'],
  ['AppliedFiles', 'applying files'],
  ['AppliedOSImage', 'applying the OS'],
  ['UpdatePostActionComplete', 'post action'],
  ['RebootedNode', 'rebooting'],
  ['UpdateComplete', 'verifying'],
  ['Uncordoned', 'uncordoning'],
];

export interface NodeStep {
  /** '' if nothing is in progress. */
  readonly words: string;
  /** Since when, as an API timestamp; '' if it is not known. */
  readonly since: string;
}

export const noStep: NodeStep = { words: '', since: '' };

export function readNodeStep(record: MachineConfigNode | undefined): NodeStep {
  const conditions = record?.status?.conditions ?? [];
  const underWay = steps.flatMap(([type, words]) => {
    const condition = conditions.find((each) => each.type === type && each.status === 'Unknown');
    if (condition === undefined) return [];
    // During a rollback all steps of the update are Unknown at the same time.
    if (condition.reason === 'RollingBack') return [{ words: 'going back', since: condition.lastTransitionTime }];
    return [{ words, since: condition.lastTransitionTime }];
  });
  return underWay.at(-1) ?? noStep;
}

// The state of a fleet's rollouts as plain data: `-o json` prints it, and the tables show it.

export interface StatusReport {
  /** Why the fleet-wide stop switch is on; null: it is off. */
  readonly stopped: string | null;
  readonly pools: readonly PoolReport[];
  readonly nodesWithoutPool: readonly NodeOutside[];
}

export interface PoolReport {
  readonly name: string;
  readonly phase: RolloutDecision['phase'];
  /** The rendered config that its machines should have; null: nothing was rendered yet. */
  readonly target: string | null;
  /** The config that was rendered last: the target, unless the pool is held at another one. */
  readonly newest: string | null;
  /** Why the target is not the newest; null: it is. */
  readonly hold: { readonly kind: string; readonly why: string } | null;
  readonly isPaused: boolean;
  readonly machines: MachineCounts;
  readonly maxUnavailable: number;
  readonly wave: RolloutDecision['wave'];
  readonly startedAt: string | null;
  /** Estimated from past rollouts of the pool; null: nothing is in progress, or there is no past rollout. */
  readonly secondsLeft: number | null;
  readonly summary: string;
  /** A user request that the controller has not answered yet. */
  readonly request: string | null;
  readonly problems: readonly string[];
  readonly nodes: readonly NodeReport[];
}

export interface MachineCounts {
  readonly total: number;
  readonly updated: number;
  readonly ready: number;
  readonly unavailable: number;
  readonly degraded: number;
}

export interface NodeReport {
  readonly name: string;
  readonly phase: NodePhase;
  /** What it is doing now, such as `draining`; '' for nothing. */
  readonly step: string;
  readonly stepSince: string;
  readonly current: string | null;
  readonly desired: string | null;
  readonly state: NodeFacts['state'];
  readonly isReady: boolean;
  readonly isCordoned: boolean;
  readonly isUnavailable: boolean;
  /** Why it is in this phase. */
  readonly why: string;
  /** What its drain waits for, or the problem that its daemon reports; ''. */
  readonly blockedBy: string;
}

/** `only`: these pools; null: all. */
export function statusReport(
  fleet: FleetSnapshot,
  decided: DecidedFleet,
  only: ReadonlySet<string> | null = null,
): StatusReport {
  return {
    stopped: decided.stopped,
    pools: decided.pools
      .filter(({ name }) => only === null || only.has(name))
      .map((pool) => poolReport(pool, fleet.machineConfigNodes)),
    nodesWithoutPool: decided.outside,
  };
}

function poolReport(pool: DecidedPool, records: FleetSnapshot['machineConfigNodes']): PoolReport {
  const { facts, decision } = pool;
  const nodes = pool.nodes.flatMap((node): NodeReport[] => {
    const verdict = decision.nodes.get(node.name);
    return verdict === undefined ? [] : [nodeReport(node, verdict, records)];
  });
  return {
    name: pool.name,
    phase: decision.phase,
    target: decision.target,
    newest: facts.newest,
    hold: buildHold(pool),
    isPaused: facts.isPaused,
    machines: countMachines(nodes, decision.target),
    maxUnavailable: decision.maxUnavailable,
    wave: decision.wave,
    startedAt: findStart(pool),
    secondsLeft: secondsLeft(pool, nodes),
    summary: decision.summary,
    request: pool.request,
    problems: pool.problems,
    nodes,
  };
}

/** As stored: a rollout that the controller has not started has no start time. */
function findStart({ facts: { state }, decision }: DecidedPool): string | null {
  return state !== null && state.target === decision.target && state.endedAt === null ? state.startedAt : null;
}

function buildHold({ decision: { held, state } }: DecidedPool): PoolReport['hold'] {
  if (held === null) return null;
  const { kind, why } = state?.hold ?? {
    kind: 'rollback',
    why: 'a user set the annotation slipway.dev/target-config',
  };
  return { kind, why };
}

function nodeReport(node: NodeFacts, verdict: NodeVerdict, records: FleetSnapshot['machineConfigNodes']): NodeReport {
  const { name, current, desired, state, isReady, isCordoned } = node;
  const step = verdict.phase === 'updating' || verdict.phase === 'failed' ? readNodeStep(records.get(name)) : noStep;
  return {
    name,
    phase: verdict.phase,
    step: step.words,
    stepSince: step.since,
    current,
    desired,
    state,
    isReady,
    isCordoned,
    isUnavailable: verdict.isUnavailable,
    why: verdict.why,
    blockedBy: node.drainBlocked || node.reason,
  };
}

/** Counted as in the status of the MachineConfigPool, which may lag behind. */
function countMachines(nodes: readonly NodeReport[], target: string | null): MachineCounts {
  const updated = nodes.filter(
    ({ current, desired, state }) => target !== null && current === target && desired === target && state === 'Done',
  );
  return {
    total: nodes.length,
    updated: updated.length,
    ready: updated.filter(({ isReady, isCordoned }) => isReady && !isCordoned).length,
    unavailable: nodes.filter(({ isUnavailable }) => isUnavailable).length,
    degraded: nodes.filter(({ state }) => state === 'Degraded' || state === 'Unreconcilable').length,
  };
}

/**
 * The machines that keep the rollout waiting until a user acts: they are cordoned by a user, or failed, and no other
 * machine is being updated. None while it continues.
 */
export function listSlotHolders({ nodes, decision }: Pick<DecidedPool, 'nodes' | 'decision'>): NodeFacts[] {
  const verdicts = [...decision.nodes.values()];
  const isWaiting = verdicts.some(({ phase }) => phase === 'waiting');
  const continues = verdicts.some(({ phase }) => phase === 'updating' || phase === 'next');
  if (decision.phase !== 'updating' || !isWaiting || continues) return [];
  return nodes.filter((node) => {
    const verdict = decision.nodes.get(node.name);
    return verdict?.isUnavailable === true && (isStuck(node) || verdict.phase === 'failed');
  });
}

/** Machines that are updated, or that no progress of the rollout updates. */
const settledPhases: ReadonlySet<NodePhase> = new Set(['updated', 'skipped', 'drifted']);

/** Only while machines are updated: the end of a rollout that is halted, paused or waits for a user cannot be estimated. */
function secondsLeft(pool: DecidedPool, nodes: readonly NodeReport[]): number | null {
  const { facts, decision, history } = pool;
  if (decision.phase !== 'updating' || listSlotHolders(pool).length > 0) return null;
  const hasWaves = decision.wave !== null && decision.wave.of > 1;
  return estimateSeconds(history, {
    nodes: nodes.filter(({ phase }) => !settledPhases.has(phase)).length,
    updated: nodes.filter(({ phase }) => phase === 'updated').length,
    capacity: decision.maxUnavailable,
    waves: hasWaves ? waveSizes(facts.policy, nodes.length) : [],
    soakMs: facts.policy.soakMs,
  });
}
