// Answers a user's request about a rollout.
import { isRenderedFor } from '../render/rendered-name.ts';
import type { NodeFacts, PoolFacts, RolloutRecord, RolloutState } from './facts.ts';
import { isReverting } from './node-state.ts';
import {
  type RolloutTarget,
  describeRefusal,
  resolveTarget,
  startRollout,
  advanceRollout,
  downgrade,
  holdFor,
  lastGood,
} from './lifecycle.ts';
import { computeNodeState } from './node-state.ts';
import { formatNames } from './node-state.ts';

export interface RequestInput {
  readonly pool: PoolFacts;
  readonly nodes: readonly NodeFacts[];
  /** Newest first. */
  readonly history: readonly RolloutRecord[];
  /** The rendered MachineConfigs that exist. */
  readonly knownConfigs: ReadonlySet<string>;
  readonly now: number;
}

export interface RequestAnswer {
  /** The state to store, with the answer in it; null: there is no rollout to store it with. */
  readonly state: RolloutState | null;
  /** The desired value of the annotation target-config. */
  readonly held: string | null;
  readonly answer: NonNullable<RolloutState['answer']>;
  /** The rollout that the request ended, for the history. */
  readonly ended: RolloutRecord | null;
}

type RequestOutcome =
  | { readonly ok: false; readonly text: string }
  | {
      readonly ok: true;
      readonly text: string;
      readonly state: RolloutState;
      readonly held: string | null;
      readonly ended: RolloutRecord | null;
    };

const MAX_REQUEST = 300;
const MAX_TEXT = 1000;

export function answerRequest(request: string, input: RequestInput): RequestAnswer {
  const { pool, now } = input;
  const outcome = decideOutcome(request.trim(), input);
  const answer = {
    request: request.slice(0, MAX_REQUEST),
    at: new Date(now).toISOString(),
    ok: outcome.ok,
    text: outcome.text.slice(0, MAX_TEXT),
  };
  if (outcome.ok) return { ...outcome, state: { ...outcome.state, answer }, answer };
  return { state: pool.state === null ? null : { ...pool.state, answer }, held: pool.held, answer, ended: null };
}

function decideOutcome(request: string, input: RequestInput): RequestOutcome {
  const aim = resolveTarget(input.pool, input.now);
  if (aim.refused !== null) return replaceRefused(request, aim.refused, input);
  if (aim.target === null) return refused(`nothing has been rendered for pool ${input.pool.name} yet`);
  const aimed = { ...aim, target: aim.target };
  if (request === 'cancel') return cancel(aimed, input);
  if (request === 'resume') return resume(aimed, input);
  if (request === 'rollback') return rollback(before(aimed.target, input), aimed, input);
  if (request.startsWith('rollback=')) return rollback(request.slice('rollback='.length), aimed, input);
  const expected = 'cancel, resume, rollback or rollback=<rendered MachineConfig>';
  return refused(`expected ${expected}, found "${request.slice(0, MAX_REQUEST)}"`);
}

/** A refused target counts as none: `resume` removes it, and any other request sets a target in its place. */
function replaceRefused(request: string, target: string, input: RequestInput): RequestOutcome {
  const { pool } = input;
  if (target !== pool.held) return refused(describeRefusal(pool, target));
  const free = { ...input, pool: { ...pool, held: null } };
  if (request !== 'resume') return decideOutcome(request, free);
  return releaseHold(`${target} was not rendered for it`, free);
}

const refused = (text: string): RequestOutcome => ({ ok: false, text: `${text} (SLW_ROLLOUT_REQUEST)` });

type ActiveTarget = RolloutTarget & { readonly target: string };

function cancel(aim: ActiveTarget, input: RequestInput): RequestOutcome {
  const { pool, now } = input;
  if (isReverting(aim.hold)) return refused(`pool ${pool.name} is already rolling back to ${aim.target}`);
  const isBegun = pool.state?.target === aim.target;
  if (isBegun && pool.state.endedAt !== null) {
    return refused(
      `there is nothing to cancel: every machine in pool ${pool.name} has ${aim.target}. To return to the previous config: slipway rollback ${pool.name}`,
    );
  }
  const to = isBegun ? pool.state.from : lastGood(pool, input.nodes, aim.target);
  if (to === null) {
    return refused(
      `no config is known that every machine in pool ${pool.name} had before ${aim.target}. Pause the pool (slipway pause ${pool.name}), or name a config: slipway rollback ${pool.name} --to NAME`,
    );
  }
  return goTo(to, { kind: 'cancel', now, why: `a user cancelled the rollout of ${aim.target}` }, input);
}

function rollback(to: string | null, aim: ActiveTarget, input: RequestInput): RequestOutcome {
  const { pool, now } = input;
  if (to === null) {
    return refused(
      `the history of pool ${pool.name} lists no config before ${aim.target}. Name one: slipway rollback ${pool.name} --to NAME`,
    );
  }
  if (!isRenderedFor(pool.name, to)) {
    return refused(
      `expected a rendered MachineConfig of pool ${pool.name}, such as rendered-${pool.name}-…, found ${to}`,
    );
  }
  if (to === aim.target) return refused(`${to} is already the target of pool ${pool.name}`);
  return goTo(to, { kind: 'rollback', now, why: `rolled back from ${aim.target} at a user's request` }, input);
}

/** The last config that every machine had before the current one. */
function before(target: string, { pool, nodes, history }: RequestInput): string | null {
  const record = history.find(({ config, outcome }) => config !== target && outcome !== 'superseded');
  return record?.config ?? lastGood(pool, nodes, target) ?? pool.state?.from ?? null;
}

function goTo(to: string, why: Parameters<typeof holdFor>[2], input: RequestInput): RequestOutcome {
  const { pool, nodes, knownConfigs } = input;
  if (!knownConfigs.has(to)) {
    return refused(`MachineConfig ${to} no longer exists, so pool ${pool.name} cannot return to it`);
  }
  const lower = downgrade({ config: to, osMajor: rememberedMajor(to, input) }, nodes);
  if (lower !== null) return { ok: false, text: lower };
  const hold = holdFor(pool, to, why);
  const { state, ended } = startRollout(to, hold, input);
  const until = hold === null ? '' : ` and stays there until ${describeHoldEnd(pool)}`;
  return {
    ok: true,
    text: `pool ${pool.name} now targets ${to}${until}`,
    state,
    held: hold === null ? null : to,
    ended,
  };
}

const describeHoldEnd = ({ name, policy }: PoolFacts): string =>
  `${policy.hold === 'until-new-render' ? 'a new config is rendered or ' : ''}you run slipway resume ${name}`;

function rememberedMajor(config: string, { pool: { state }, history }: RequestInput): number | null {
  if (state !== null && state.from === config && state.fromOsMajor !== null) return state.fromOsMajor;
  return history.find((record) => record.config === config && record.osMajor !== undefined)?.osMajor ?? null;
}

function resume(aim: ActiveTarget, input: RequestInput): RequestOutcome {
  const { pool, now } = input;
  const course = advanceRollout(aim, input);
  const awaited = listUnhealthy(aim.target, input);
  const isUnderWay = course.state.endedAt === null && awaited.length > 0;
  if (course.state.halted !== null || (aim.hold === null && isUnderWay)) {
    const without = course.state.halted?.node ?? formatNames(awaited);
    const state = { ...course.state, halted: null, resumedAt: new Date(now).toISOString() };
    const text = `the rollout of ${aim.target} continues without waiting for ${without}`;
    return { ok: true, text, state, held: aim.held, ended: course.ended };
  }
  if (aim.hold === null) return refused(`pool ${pool.name} is neither halted nor held: there is nothing to resume`);
  return releaseHold(aim.hold.why, input);
}

function releaseHold(why: string, input: RequestInput): RequestOutcome {
  const { pool } = input;
  if (pool.newest === null) return refused(`nothing has been rendered for pool ${pool.name} to continue to`);
  const free = { target: pool.newest, refused: null, held: null, hold: null };
  const { state, ended } = advanceRollout(free, input);
  return {
    ok: true,
    text: `pool ${pool.name} is no longer held (${why}) and now targets ${pool.newest}`,
    state,
    held: null,
    ended,
  };
}

/** Machines that were assigned the target and failed, drifted, or are not ready. */
const listUnhealthy = (target: string, { pool, nodes, now }: RequestInput): NodeFacts[] =>
  nodes.filter((node) => {
    const { standing } = computeNodeState(node, { target, now, proven: pool.proven, hold: null });
    return standing === 'failed' || standing === 'drifted' || (standing === 'moving' && !node.isReady);
  });
