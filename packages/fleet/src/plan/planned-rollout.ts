// Simulates a rollout with the controller's decision function, on machines that apply every assignment successfully.
import type { MachineConfiguration } from '@slipway/api';
import { FleetError } from '../errors.ts';
import { formatProblem } from '../problems.ts';
import { type RolloutDecision } from '../rollout/facts.ts';
import { decideRollout } from '../rollout/decide-rollout.ts';
import type { NodeFacts, RolloutRecord, RolloutRequest } from '../rollout/facts.ts';
import { isStuck, computeNodeState } from '../rollout/node-state.ts';
import { estimateSeconds } from '../rollout/waves.ts';
import { type PlannedConfig, planUpdate } from '../update/plan-update.ts';
import type { UpdatePlan } from '../update/update-plan.ts';
import type { PlannedWave, RolloutPlan } from './fleet-plan.ts';

export interface RolloutForecast {
  /** The first decision, as the controller would make it. */
  readonly decision: RolloutDecision;
  readonly plan: RolloutPlan;
}

export function simulateRollout(request: RolloutRequest, history: readonly RolloutRecord[]): RolloutForecast {
  const decision = decideRollout(request);
  const later = onceOthersAreBack(request, decision);
  const takenBy = placesTaken(later, decision);
  const capacity = decision.maxUnavailable - takenBy.length;
  const batches = simulateWaves({ ...later, pool: { ...request.pool, isPaused: false }, stopped: null });
  const soakSeconds = request.pool.policy.soakMs / 1000;
  const waves = batches.map(({ number, of, nodes }) => {
    return { number, of, nodes, atATime: capacity > 0 ? Math.min(capacity, nodes.length) : nodes.length, soakSeconds };
  });
  const { phase, summary, maxUnavailable } = decision;
  return {
    decision,
    plan: { phase, summary, maxUnavailable, takenBy, waves, estimateSeconds: estimate(waves, capacity, history) },
  };
}

/** In other pools, updating machines finish, and failed or stuck ones stay so. */
function onceOthersAreBack(request: RolloutRequest, { target }: RolloutDecision): RolloutRequest {
  const stuck = new Set(request.elsewhere.filter(isStuck).map(({ name }) => name));
  return {
    ...request,
    otherControlPlaneOut: request.otherControlPlaneOut.filter((name) => stuck.has(name)),
    elsewhere: request.elsewhere.map((node) =>
      isOnItsWay(node, target, request) ? finished(node, node.desired) : node,
    ),
  };
}

const isOnItsWay = (node: NodeFacts, target: string | null, { now, pool }: RolloutRequest): boolean =>
  target !== null &&
  node.desired === target &&
  computeNodeState(node, { target, now, proven: pool.proven, hold: null }).standing === 'moving';

function estimate(waves: readonly PlannedWave[], capacity: number, history: readonly RolloutRecord[]): number | null {
  const sizes: number[] = [];
  for (const { nodes } of waves) sizes.push((sizes.at(-1) ?? 0) + nodes.length);
  const soakMs = (waves[0]?.soakSeconds ?? 0) * 1000;
  return estimateSeconds(history, { nodes: sizes.at(-1) ?? 0, capacity, waves: sizes, soakMs });
}

/** Machines that stay unavailable whatever the rollout does. */
function placesTaken({ otherControlPlaneOut, nodes }: RolloutRequest, decision: RolloutDecision): string[] {
  const stuck = nodes.filter(({ name }) => {
    const verdict = decision.nodes.get(name);
    return verdict?.isUnavailable === true && ['skipped', 'failed', 'drifted'].includes(verdict.phase);
  });
  return [...stuck.map(({ name }) => name), ...otherControlPlaneOut];
}

interface Batch {
  readonly number: number;
  readonly of: number;
  readonly nodes: string[];
}

/** No pool needs more rounds: a wave has a few, and a policy few waves. */
const MAX_ROUNDS = 1000;

function simulateWaves(request: RolloutRequest): Batch[] {
  const batches = new Map<number, Batch>();
  let at: RolloutRequest | null = request;
  for (let round = 0; round < MAX_ROUNDS && at !== null; round += 1) {
    const decision = decide(at);
    note(batches, decision, at.nodes);
    at = afterTurn(at, decision);
  }
  return [...batches.values()].sort((a, b) => a.number - b.number);
}

/**
 * The order of healthy machines does not depend on how many are updated at a time. So the rest of a wave is updated in
 * one round: otherwise a pool of thousands would need thousands of decisions. This does not apply to unavailable
 * machines that still wait for an update, but these are few.
 */
function decide(at: RolloutRequest): RolloutDecision {
  const decision = decideRollout(at);
  const hasTrouble = decision.nodes
    .values()
    .some(({ phase, isUnavailable }) => isUnavailable && (phase === 'waiting' || phase === 'next'));
  if (hasTrouble || decision.give.length === 0) return decision;
  const pool = { ...at.pool, isControlPlane: false, maxUnavailable: '100%' };
  return decideRollout({ ...at, pool, otherControlPlaneOut: [] });
}

function note(batches: Map<number, Batch>, { give, wave }: RolloutDecision, nodes: readonly NodeFacts[]): void {
  // A machine that already runs the config does not change.
  const current = new Map(nodes.map((node) => [node.name, node.current]));
  const moving = give.filter(({ node, config }) => current.get(node) !== config).map(({ node }) => node);
  if (moving.length === 0) return;
  const { number, of } = wave ?? { number: 1, of: 1 };
  const batch = batches.get(number) ?? { number, of, nodes: [] };
  batch.nodes.push(...moving);
  batches.set(number, batch);
}

/** Null: nothing more would happen. */
function afterTurn(at: RolloutRequest, decision: RolloutDecision): RolloutRequest | null {
  const given = new Map(decision.give.map(({ node, config }) => [node, config]));
  const nodes = at.nodes.map((node) => finish(node, given.get(node.name) ?? null, decision));
  const isStill = nodes.every((node, index) => node === at.nodes[index]) && decision.state === at.pool.state;
  if (isStill && decision.lookAgainAt === null) return null;
  const now = isStill ? Math.max(at.now + 1, decision.lookAgainAt ?? 0) : at.now;
  return { ...at, now, nodes, pool: { ...at.pool, state: decision.state, held: decision.held } };
}

/** A machine that was assigned a config applies it and is healthy. */
function finish(node: NodeFacts, given: string | null, decision: RolloutDecision): NodeFacts {
  const isUnderWay = decision.nodes.get(node.name)?.phase === 'updating';
  if (given === null && !isUnderWay) return node;
  return finished(node, given ?? node.desired);
}

const finished = (node: NodeFacts, config: string | null): NodeFacts => ({
  ...node,
  desired: config,
  hadItBefore: node.current === config,
  current: config,
  state: 'Done',
  reason: '',
  isReady: true,
  notReady: '',
  isCordoned: false,
  isCordonedByUs: false,
  drainBlocked: '',
});

// The update plan from one config to another, computed once per pair for any number of machines.

export interface Updates {
  /** Null if a config is missing or cannot be read; `problems` then has the reason. */
  between(from: string, to: string): Promise<UpdatePlan | null>;
  /** Human-readable, without duplicates. */
  readonly problems: ReadonlySet<string>;
}

export function createUpdates(
  configs: ReadonlyMap<string, PlannedConfig['spec']>,
  settings: MachineConfiguration['spec'] | undefined,
): Updates {
  const { nodeDisruptionPolicy: policy, irreconcilableValidationOverrides: overrides } = settings ?? {};
  const known = new Map<string, Promise<UpdatePlan | null>>();
  const problems = new Set<string>();

  function find(name: string): PlannedConfig | null {
    const spec = configs.get(name);
    if (spec !== undefined) return { name, spec };
    problems.add(
      `MachineConfig ${name} does not exist, so the changes for its machines are unknown; they count as disrupted`,
    );
    return null;
  }

  async function plan(from: string, to: string): Promise<UpdatePlan | null> {
    const [current, desired] = [find(from), find(to)];
    if (current === null || desired === null) return null;
    try {
      return await planUpdate({ current, desired, policy, overrides });
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      problems.add(formatProblem(error));
      return null;
    }
  }

  return {
    problems,
    between(from, to) {
      const pair = `${from} ${to}`;
      const before = known.get(pair) ?? plan(from, to);
      known.set(pair, before);
      return before;
    },
  };
}
