// Which machines are given the target now, and in which order.
import type { Assignment, NodeFacts, RolloutDecision, RolloutRecord, RolloutRequest, RolloutState } from './facts.ts';
import {
  type RolloutTarget,
  resolveTarget,
  startRollout,
  advanceRollout,
  downgrade,
  endRollout,
  haltedState,
  holdFor,
} from './lifecycle.ts';
import { isFailing, isUnavailable, type NodeState, computeNodeState } from './node-state.ts';
import { computeMaxUnavailable } from './policy.ts';
import { AFTER_FAILURE } from './read-facts.ts';
import { machines, computePhase, type Situation, formatSummary } from './summary.ts';
import { buildVerdicts } from './verdicts.ts';
import { computeWave } from './waves.ts';

export interface Limits {
  readonly target: string;
  /** How many of the pool may be out of service. */
  readonly maxUnavailable: number;
  /** Machines outside of the pool that count as well. */
  readonly outElsewhere: number;
  readonly wave: { readonly number: number; readonly of: number; readonly size: number; readonly given: number };
  readonly ownNode: string | null;
}

export function selectAssignments(stands: readonly NodeState[], limits: Limits): Assignment[] {
  const { target, wave } = limits;
  const same = stands.filter(({ standing }) => standing === 'same').sort(byTurn);
  const give = same.map((stand) => ({ node: stand.node.name, config: target, why: explainAssignment(stand, target) }));
  let room = wave.size - wave.given - same.length;
  const slots = countSlots(stands, limits);
  if (room <= 0) return give;
  for (const stand of inOrder(stands, slots, limits)) {
    if (room === 0) break;
    const why = take(stand, slots, limits);
    if (why === null) continue;
    give.push({ node: stand.node.name, config: target, why });
    room -= 1;
  }
  return give;
}

/** How much of the pool is out of service, as machines are given the target one after the other. */
interface Slots {
  /** All that count against maxUnavailable. */
  unavailable: number;
  /** Those of them that are really away, or may go away at any time. One that failed and rests is neither, until it is told to move. */
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
 * What is out of service already goes first, since it costs nothing, and of that what has failed. But one that is not ready is the
 * worst of canaries. The machine that the controller runs on goes after the other ones, so that the controller moves once.
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
  const place = zone === '' ? 'the oldest' : `the oldest of zone ${zone}`;
  const canary = wave.number === 1 && wave.of > 1 ? ', which tries it for the others' : '';
  return `it is ${place} that is left in wave ${wave.number} of ${wave.of}${canary}; number ${unavailable} of at most ${machines(maxUnavailable)} out of service`;
}

function explainAssignment({ node, standing }: NodeState, target: string): string {
  if (standing === 'same') return `${isFailing(node) ? AFTER_FAILURE : ''}it runs ${target} already`;
  if (isFailing(node)) return `${AFTER_FAILURE}${describeFailedConfig(node)}, and has its turn first`;
  if (standing === 'broken') return `it is not ready at ${node.current}, which may be the reason`;
  return `it was on its way to ${node.desired}, so that it costs nothing to turn it round`;
}

const describeFailedConfig = ({ current, desired }: NodeFacts): string =>
  desired === null || desired === current ? `it is degraded at ${current}` : `it could not become ${desired}`;

// Which machines of a pool are given its target now. The whole decision about a rollout, on plain data.

export function decideRollout(request: RolloutRequest): RolloutDecision {
  const aim = resolveTarget(request.pool, request.now);
  if (!hasTarget(aim)) return nothingToDo(request);
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
  /** Null: it has not begun. */
  readonly state: RolloutState | null;
  readonly ended: RolloutRecord | null;
}

function computeProgress(
  request: RolloutRequest,
  aim: RolloutTarget & { target: string },
  stands: readonly NodeState[],
): DecidedProgress {
  const { pool, nodes, now } = request;
  const isDone = stands.every(({ standing }) => standing === 'well');
  const isShut = pool.isPaused || request.stopped !== null;
  // What may not begin has no beginning yet: its time would count the pause.
  if (isShut && !isDone && pool.state?.target !== aim.target) return { state: null, ended: null };
  const { state, ended } = advanceRollout(aim, { pool, nodes, now });
  // One record at a time: the rollout that was replaced is written down first.
  if (isDone && state.endedAt === null && ended === null) return endRollout(state, { pool, nodes, now });
  const movedAway = request.elsewhere.filter(({ desired }) => desired === aim.target);
  return { state: haltedState(state, pool, [...stands, ...computeNodeStates(request, aim, movedAway)], now), ended };
}

interface Reversal {
  readonly to: string;
  readonly state: RolloutState;
  readonly why: string;
}

/** Where a halted rollout goes back to by itself; null: it stays halted. */
function findReversal(state: RolloutState, { pool, nodes }: RolloutRequest): Reversal | null {
  const { halted, from, fromOsMajor } = state;
  if (halted === null || from === null || pool.policy.onFailure !== 'return') return null;
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
  // Another record was to be written first.
  if (phase === 'updated' && state?.endedAt === null) return request.now;
  let next = wave?.soaksUntil ?? null;
  for (const { changesAt } of stands) {
    if (changesAt !== null && (next === null || changesAt < next)) next = changesAt;
  }
  return next;
}

function nothingToDo({ pool, nodes }: RolloutRequest): RolloutDecision {
  const why = `nothing has been rendered for pool ${pool.name} yet`;
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
    summary: `Nothing has been rendered for pool ${pool.name} yet; its condition RenderDegraded says why, if that lasts`,
    phase: 'nothing',
  };
}
