// Which machines of a pool are given its target now. The whole decision about a rollout, on plain data.
import { chosen, type Given } from './candidates.ts';
import { begin, courseTo, end } from './course.ts';
import type { RolloutDecision } from './decision.ts';
import type { NodeFacts, RolloutRecord, RolloutRequest, RolloutState } from './facts.ts';
import { downgrade, haltedState } from './halt.ts';
import { type Aim, aimOf, holdFor } from './hold.ts';
import { maxUnavailableOf } from './max-unavailable.ts';
import { isUnavailable, type Stand, standOf } from './standing.ts';
import { phaseOf, type Situation, summaryOf } from './summary.ts';
import { verdictsOf } from './verdicts.ts';
import { waveOf } from './waves.ts';

export function chooseNodes(request: RolloutRequest): RolloutDecision {
  const aim = aimOf(request.pool, request.now);
  if (!isAimed(aim)) return nothingToDo(request);
  const stands = standsOf(request, aim, request.nodes);
  const course = courseOf(request, aim, stands);
  const back = course.state === null ? null : wayBack(course.state, request);
  return back === null ? decided(request, aim, stands, course) : goBack(request, back);
}

const isAimed = (aim: Aim): aim is Aim & { target: string } => aim.target !== null;

function standsOf(
  { pool, now }: RolloutRequest,
  { target, hold }: Aim & { target: string },
  nodes: readonly NodeFacts[],
): Stand[] {
  const measure = { target, now, proven: pool.proven, hold };
  return nodes.map((node) => standOf(node, measure));
}

interface Course {
  /** Null: it has not begun. */
  readonly state: RolloutState | null;
  readonly ended: RolloutRecord | null;
}

function courseOf(request: RolloutRequest, aim: Aim & { target: string }, stands: readonly Stand[]): Course {
  const { pool, nodes, now } = request;
  const isDone = stands.every(({ standing }) => standing === 'well');
  const isShut = pool.isPaused || request.stopped !== null;
  // What may not begin has no beginning yet: its time would count the pause.
  if (isShut && !isDone && pool.state?.target !== aim.target) return { state: null, ended: null };
  const { state, ended } = courseTo(aim, { pool, nodes, now });
  // One record at a time: the rollout that was replaced is written down first.
  if (isDone && state.endedAt === null && ended === null) return end(state, { pool, nodes, now });
  const movedAway = request.elsewhere.filter(({ desired }) => desired === aim.target);
  return { state: haltedState(state, pool, [...stands, ...standsOf(request, aim, movedAway)], now), ended };
}

interface WayBack {
  readonly to: string;
  readonly state: RolloutState;
  readonly why: string;
}

/** Where a halted rollout goes back to by itself; null: it stays halted. */
function wayBack(state: RolloutState, { pool, nodes }: RolloutRequest): WayBack | null {
  const { halted, from, fromOsMajor } = state;
  if (halted === null || from === null || pool.policy.onFailure !== 'return') return null;
  if (downgrade({ config: from, osMajor: fromOsMajor }, nodes) !== null) return null;
  return { to: from, state, why: `node ${halted.node} failed: ${halted.reason}` };
}

function goBack(request: RolloutRequest, { to, state, why }: WayBack): RolloutDecision {
  const { nodes, now } = request;
  const pool = { ...request.pool, state };
  const hold = holdFor(pool, to, { kind: 'return', now, why });
  const { state: back, ended } = begin(to, hold, { pool, nodes, now });
  const held = hold === null ? null : to;
  return { ...chooseNodes({ ...request, pool: { ...pool, held, state: back } }), ended };
}

function decided(
  request: RolloutRequest,
  aim: Aim & { target: string },
  stands: readonly Stand[],
  course: Course,
): RolloutDecision {
  const { pool } = request;
  const wave = course.state === null ? null : waveOf(course.state, pool, stands, request.now);
  const situation: Situation = {
    request,
    target: aim.target,
    stands,
    wave,
    state: wave === null ? null : wave.state,
    maxUnavailable: pool.isControlPlane ? 1 : maxUnavailableOf(pool.maxUnavailable, stands.length),
  };
  const phase = phaseOf(situation);
  const give = phase === 'updating' ? given(situation) : [];
  return {
    target: aim.target,
    maxUnavailable: situation.maxUnavailable,
    give,
    nodes: verdictsOf(situation, phase, give),
    wave: wave === null ? null : { number: wave.number, of: wave.of, size: wave.size },
    state: situation.state ?? pool.state,
    held: aim.held,
    ended: course.ended,
    lookAgainAt: nextLook(situation, phase),
    summary: summaryOf(situation, phase, give),
    phase,
  };
}

function given({ request, target, stands, wave, maxUnavailable }: Situation): Given[] {
  if (wave === null) return [];
  const outElsewhere = request.pool.isControlPlane ? request.otherControlPlaneOut.length : 0;
  return chosen(stands, { target, maxUnavailable, outElsewhere, wave, ownNode: request.ownNode });
}

function nextLook({ stands, state, wave, request }: Situation, phase: RolloutDecision['phase']): number | null {
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
    maxUnavailable: maxUnavailableOf(pool.maxUnavailable, nodes.length),
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
