// Which nodes are assigned the target now, and in which order.
import { isRenderedFor } from '../render/rendered-name.ts';
import type { Assignment, NodeFacts, RolloutDecision, RolloutRecord, RolloutRequest, RolloutState } from './facts.ts';
import {
  type RolloutTarget,
  describeRefusal,
  resolveTarget,
  startRollout,
  advanceRollout,
  downgrade,
  endRollout,
  haltedState,
  holdFor,
  provenConfig,
} from './lifecycle.ts';
import { isFailing, isUnavailable, type NodeState, computeNodeState } from './node-state.ts';
import { computeMaxUnavailable } from './policy.ts';
import { AFTER_FAILURE, ALREADY_RUNS } from './read-facts.ts';
import { computePhase, type Situation, formatSummary } from './summary.ts';
import { buildVerdicts } from './verdicts.ts';
import { computeWave } from './waves.ts';

export interface Limits {
  readonly target: string;
  readonly maxUnavailable: number;
  /** Unavailable nodes of other pools that count against the limit too. */
  readonly outElsewhere: number;
  readonly wave: { readonly number: number; readonly of: number; readonly size: number; readonly given: number };
  readonly ownNode: string | null;
}

export function selectAssignments(stands: readonly NodeState[], limits: Limits): Assignment[] {
  const { target, wave } = limits;
  const same = stands.filter(({ standing }) => standing === 'same').sort(byTurn);
  const give = same.map((stand) => ({ node: stand.node.name, config: target, why: explainAssignment(stand, target) }));
  // In the first wave they do not take the place of the canary.
  let free = wave.size - wave.given - (wave.number === 1 ? 0 : same.length);
  const slots = countSlots(stands, limits);
  if (free <= 0) return give;
  for (const stand of inOrder(stands, slots, limits)) {
    if (free === 0) break;
    const why = take(stand, slots, limits);
    if (why === null) continue;
    give.push({ node: stand.node.name, config: target, why });
    free -= 1;
  }
  return give;
}

/** How many nodes are unavailable, updated with each assignment. */
interface Slots {
  /** Every node that counts against maxUnavailable. */
  unavailable: number;
  /** Nodes that are down or may go down at any time. A failed node that still serves pods joins them when it is reassigned. */
  away: number;
}

function countSlots(stands: readonly NodeState[], { outElsewhere }: Limits): Slots {
  const slots = { unavailable: outElsewhere, away: outElsewhere };
  for (const stand of stands) {
    if (!stand.isUnavailable) continue;
    slots.unavailable += 1;
    if (stand.standing !== 'resting') slots.away += 1;
  }
  return slots;
}

/**
 * Nodes that are already unavailable go first, because they cost no capacity, and failed ones before the rest. A node
 * that is not ready makes a poor canary, so it goes last. The controller's own node follows the other available nodes,
 * so that the controller pod moves only once.
 */
function computeTier({ node, standing }: NodeState, ownNode: string | null): number | null {
  switch (standing) {
    case 'resting':
      return 0;
    case 'astray':
      return node.isReady ? 1 + Number(!isFailing(node)) : LAST_TIER;
    case 'available':
      return node.name === ownNode ? 4 : 3;
    case 'broken':
      return LAST_TIER;
    default:
      return null;
  }
}
const LAST_TIER = 5;

function inOrder(stands: readonly NodeState[], slots: Slots, { maxUnavailable, ownNode }: Limits): NodeState[] {
  const isFull = slots.unavailable >= maxUnavailable;
  const tiers: NodeState[][] = Array.from({ length: LAST_TIER + 1 }, () => []);
  for (const stand of stands) {
    if (isFull && stand.standing === 'available') continue;
    const tier = computeTier(stand, ownNode);
    if (tier !== null) tiers[tier]?.push(stand);
  }
  return tiers.flatMap((tier) => tier.sort(byTurn));
}

/** Zone by zone, the oldest first. */
const byTurn = ({ node: a }: NodeState, { node: b }: NodeState): number =>
  compare(a.zone, b.zone) || a.createdAt - b.createdAt || compare(a.name, b.name);

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Null: not now. */
function take(stand: NodeState, slots: Slots, limits: Limits): string | null {
  switch (stand.standing) {
    case 'available':
      if (slots.unavailable >= limits.maxUnavailable) return null;
      slots.unavailable += 1;
      slots.away += 1;
      return explainSelection(stand.node, slots, limits);
    case 'resting':
      if (slots.away >= limits.maxUnavailable) return null;
      slots.away += 1;
      return explainAssignment(stand, limits.target);
    default:
      return explainAssignment(stand, limits.target);
  }
}

function explainSelection({ zone }: NodeFacts, { unavailable }: Slots, { wave, maxUnavailable }: Limits): string {
  const place = zone === '' ? '' : ` in ${zone}`;
  const canary = wave.number === 1 && wave.of > 1 ? ', canary' : '';
  return `oldest remaining node${place} (wave ${wave.number} of ${wave.of}${canary}); ${unavailable} of ${maxUnavailable} allowed unavailable`;
}

function explainAssignment({ node, standing }: NodeState, target: string): string {
  if (standing === 'same') return `${isFailing(node) ? AFTER_FAILURE : ''}${ALREADY_RUNS}${target}`;
  if (isFailing(node)) return `${AFTER_FAILURE}${describeFailedConfig(node)}; failed nodes go first`;
  if (standing === 'broken') return `not ready at ${node.current}, which may be the cause`;
  return `was already moving to ${node.desired}, so redirecting it makes no other node unavailable`;
}

const describeFailedConfig = ({ current, desired }: NodeFacts): string =>
  desired === null || desired === current ? `degraded at ${current}` : `could not apply ${desired}`;

// The whole decision about a rollout, on plain data.

export function decideRollout(request: RolloutRequest): RolloutDecision {
  const aim = resolveTarget(request.pool, request.now);
  if (!hasTarget(aim)) return aim.refused === null ? nothingToDo(request) : refuseTarget(request, aim.refused);
  const stands = computeNodeStates(request, aim, request.nodes);
  const course = computeProgress(request, aim, stands);
  const back = course.state === null ? null : findReversal(course.state, request);
  return back === null ? buildDecision(request, aim, stands, course) : revertRollout(request, back);
}

const hasTarget = (aim: RolloutTarget): aim is RolloutTarget & { target: string } => aim.target !== null;

function computeNodeStates(
  { pool, now }: RolloutRequest,
  { target, hold }: RolloutTarget & { target: string },
  nodes: readonly NodeFacts[],
): NodeState[] {
  const measure = { target, now, proven: pool.proven, hold };
  return nodes.map((node) => computeNodeState(node, measure));
}

interface DecidedProgress {
  /** Null: it has not started. */
  readonly state: RolloutState | null;
  readonly ended: RolloutRecord | null;
}

function computeProgress(
  request: RolloutRequest,
  aim: RolloutTarget & { target: string },
  stands: readonly NodeState[],
): DecidedProgress {
  const { pool, nodes, now } = request;
  const isDone = nodes.length > 0 && stands.every(({ standing }) => standing === 'well');
  const isShut = nodes.length === 0 || pool.isPaused || request.stopped !== null;
  // A rollout that may not start has no start time yet: otherwise its duration would include the pause. In a pool
  // without machines it neither starts nor ends: that would prove a config that no machine has tried.
  if (isShut && !isDone && pool.state?.target !== aim.target) return { state: null, ended: null };
  const { state, ended } = advanceRollout(aim, { pool, nodes, now });
  // One record per decision: the superseded rollout is recorded first.
  if (isDone && state.endedAt === null && ended === null) return endRollout(state, { pool, nodes, now });
  const movedAway = request.elsewhere.filter(({ desired }) => desired === aim.target);
  const all = [...stands, ...computeNodeStates(request, aim, movedAway)];
  return { state: haltedState(state, provenConfig(pool, nodes), all, now), ended };
}

interface Reversal {
  readonly to: string;
  readonly state: RolloutState;
  readonly why: string;
}

/** What a halted rollout rolls back to automatically; null: it stays halted. */
function findReversal(state: RolloutState, { pool, nodes }: RolloutRequest): Reversal | null {
  const { halted, from, fromOsMajor } = state;
  if (halted === null || from === null || pool.policy.onFailure !== 'return') return null;
  // The state is an annotation, which users can edit.
  if (!isRenderedFor(pool.name, from)) return null;
  if (downgrade({ config: from, osMajor: fromOsMajor }, nodes) !== null) return null;
  return { to: from, state, why: `node ${halted.node} failed: ${halted.reason}` };
}

function revertRollout(request: RolloutRequest, { to, state, why }: Reversal): RolloutDecision {
  const { nodes, now } = request;
  const pool = { ...request.pool, state };
  const hold = holdFor(pool, to, { kind: 'return', now, why });
  const { state: back, ended } = startRollout(to, hold, { pool, nodes, now });
  const held = hold === null ? null : to;
  return { ...decideRollout({ ...request, pool: { ...pool, held, state: back } }), ended };
}

function buildDecision(
  request: RolloutRequest,
  aim: RolloutTarget & { target: string },
  stands: readonly NodeState[],
  course: DecidedProgress,
): RolloutDecision {
  const { pool } = request;
  const wave = course.state === null ? null : computeWave(course.state, pool, stands, request.now);
  const situation: Situation = {
    request,
    target: aim.target,
    stands,
    wave,
    state: wave === null ? null : wave.state,
    maxUnavailable: pool.isControlPlane ? 1 : computeMaxUnavailable(pool.maxUnavailable, stands.length),
  };
  const phase = computePhase(situation);
  const give = phase === 'updating' ? computeAssignments(situation) : [];
  return {
    target: aim.target,
    maxUnavailable: situation.maxUnavailable,
    give,
    nodes: buildVerdicts(situation, phase, give),
    wave: wave === null ? null : { number: wave.number, of: wave.of, size: wave.size },
    state: situation.state ?? pool.state,
    held: aim.held,
    ended: course.ended,
    lookAgainAt: computeNextCheck(situation, phase),
    summary: formatSummary(situation, phase, give),
    phase,
  };
}

function computeAssignments({ request, target, stands, wave, maxUnavailable }: Situation): Assignment[] {
  if (wave === null) return [];
  const outElsewhere = request.pool.isControlPlane ? request.otherControlPlaneOut.length : 0;
  return selectAssignments(stands, { target, maxUnavailable, outElsewhere, wave, ownNode: request.ownNode });
}

function computeNextCheck({ stands, state, wave, request }: Situation, phase: RolloutDecision['phase']): number | null {
  // The record of the superseded rollout had to be written first.
  if (phase === 'updated' && stands.length > 0 && state?.endedAt === null) return request.now;
  let next = wave?.soaksUntil ?? null;
  for (const { changesAt } of stands) {
    if (changesAt !== null && (next === null || changesAt < next)) next = changesAt;
  }
  return next;
}

function nothingToDo(request: RolloutRequest): RolloutDecision {
  const { name } = request.pool;
  return withoutTarget(request, {
    why: `nothing has been rendered for pool ${name} yet`,
    summary: `Nothing has been rendered for pool ${name} yet. If this lasts, check the pool's condition RenderDegraded`,
    phase: 'nothing',
  });
}

function refuseTarget(request: RolloutRequest, refused: string): RolloutDecision {
  return withoutTarget(request, {
    why: `the target ${refused} of pool ${request.pool.name} was not rendered for this pool`,
    summary: describeRefusal(request.pool, refused),
    phase: 'halted',
  });
}

function withoutTarget(
  { pool, nodes }: RolloutRequest,
  { why, summary, phase }: Pick<RolloutDecision, 'summary' | 'phase'> & { readonly why: string },
): RolloutDecision {
  return {
    target: null,
    maxUnavailable: computeMaxUnavailable(pool.maxUnavailable, nodes.length),
    give: [],
    nodes: new Map(nodes.map((node) => [node.name, { phase: 'waiting', why, isUnavailable: isUnavailable(node) }])),
    wave: null,
    state: pool.state,
    held: pool.held,
    ended: null,
    lookAgainAt: null,
    summary,
    phase,
  };
}
