import type { Assignment, RolloutDecision } from './facts.ts';
import type { NodeFacts, RolloutRequest, RolloutState } from './facts.ts';
import { downgrade } from './lifecycle.ts';
import { formatNames, type NodeState } from './node-state.ts';
import type { WaveView } from './waves.ts';

export const machines = (count: number): string => (count === 1 ? '1 machine' : `${count} machines`);

// A rollout in one sentence: what happens, or what is waited for and the way out.

/** All that a decision is made of. */
export interface Situation {
  readonly request: RolloutRequest;
  readonly target: string;
  readonly stands: readonly NodeState[];
  readonly maxUnavailable: number;
  /** Null: the rollout has not begun. */
  readonly state: RolloutState | null;
  readonly wave: WaveView | null;
}

type Phase = RolloutDecision['phase'];

export function computePhase({ request: { pool, stopped }, stands, state }: Situation): Phase {
  if (stands.every(({ standing }) => standing === 'well')) return 'updated';
  if (stopped !== null) return 'stopped';
  if (pool.isPaused) return 'paused';
  return state === null || state.halted === null ? 'updating' : 'halted';
}

export function formatSummary(situation: Situation, phase: Phase, give: readonly Assignment[]): string {
  const { target, stands, state } = situation;
  const progress = formatProgress(situation);
  switch (phase) {
    case 'updated':
      return `${progress}${stands.length === 0 ? ': it has none' : ''}${heldThere(situation)}`;
    case 'stopped':
    case 'paused':
      return `${capital(waitReason(situation, phase, give))}. ${progress}; machines on their way finish. ${describeNextSteps(situation, phase)}`;
    case 'halted':
      return `${capital(waitReason(situation, phase, give))}, and no other machine is given ${target}. ${progress}. ${describeNextSteps(situation, phase)}`;
    default:
      return [heading(state), progress, steps(situation, give)].filter((part) => part !== '').join('. ');
  }
}

const heading = (state: RolloutState | null): string => {
  if (state === null || state.hold === null) return '';
  const kinds = { return: 'Going back', cancel: 'Cancelled, going back', rollback: 'Rolling back' } as const;
  return `${kinds[state.hold.kind]} to ${state.target}: ${state.hold.why}`;
};

/** What an old config that every machine has waits for. */
function heldThere({ state, request: { pool } }: Situation): string {
  if (state === null || state.hold === null) return '';
  return `, and are held there: ${state.hold.why}. To go on to ${pool.newest}: slipway resume ${pool.name}`;
}

function formatProgress({ request: { pool }, stands, target }: Situation): string {
  const well = stands.filter(({ standing }) => standing === 'well').length;
  if (well === stands.length) return `All machines of pool ${pool.name} have ${target}`;
  return `${well} of ${machines(stands.length)} of pool ${pool.name} have ${target}`;
}

function steps(situation: Situation, give: readonly Assignment[]): string {
  const { stands, wave } = situation;
  // Those that are given it now are under way as soon as this can be read.
  const moving = [...selectNodes(stands, 'moving'), ...give.map(({ node }) => ({ name: node }))];
  const failed = selectNodes(stands, 'failed');
  const isLeft = stands.some(({ standing }) => standing === 'available' || standing === 'resting');
  return [
    wave !== null && wave.of > 1 ? `wave ${wave.number} of ${wave.of}` : '',
    moving.length > 0 ? `on their way: ${formatNames(moving)}` : '',
    failed.length > 0 ? `failed: ${formatNames(failed)}` : '',
    blockedDrains(situation.request.nodes),
    skippedOnes(stands),
    give.length === 0 && isLeft ? waitReason(situation, 'updating', give) : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
}

const selectNodes = (stands: readonly NodeState[], standing: NodeState['standing']) =>
  stands.filter((stand) => stand.standing === standing).map(({ node }) => node);

/** What drains wait for; ''. */
export function blockedDrains(nodes: readonly NodeFacts[]): string {
  const blocked = nodes.filter(({ drainBlocked }) => drainBlocked !== '');
  const first = blocked.reduce((a, b) => (a === undefined || b.name < a.name ? b : a), blocked[0]);
  if (first === undefined) return '';
  const more = blocked.length > 1 ? `, and ${blocked.length - 1} more drains wait` : '';
  return `the drain of ${first.name} waits: ${first.drainBlocked}${more}`;
}

function skippedOnes(stands: readonly NodeState[]): string {
  const skipped = selectNodes(stands, 'skipped');
  return skipped.length === 0 ? '' : `cannot have a turn as they are: ${formatNames(skipped)}`;
}

/** Why a machine that could be given the target is not. */
export function waitReason(situation: Situation, phase: Phase, give: readonly Assignment[]): string {
  const { request, state, wave } = situation;
  const { pool, stopped } = request;
  if (phase === 'stopped') return `rollouts of all pools are stopped: ${stopped === '' ? 'no reason given' : stopped}`;
  if (phase === 'paused') return `pool ${pool.name} is paused`;
  const halted = state === null ? null : state.halted;
  if (halted !== null) return `the rollout is halted: node ${halted.node} failed: ${halted.reason}`;
  if (wave !== null && wave.given + give.length >= wave.size) return waveReason(situation, wave, give);
  return fullReason(situation, give);
}

function waveReason({ request }: Situation, wave: WaveView, give: readonly Assignment[]): string {
  const which = `wave ${wave.number} of ${wave.of} is for ${machines(wave.size)}`;
  if (wave.soaksUntil !== null) {
    return `${which}, and must stay well until ${new Date(wave.soaksUntil).toISOString()}`;
  }
  const awaited = [...wave.unwell, ...give.map(({ node }) => ({ name: node }))];
  return `${which}, and the next begins when ${formatNames(awaited)} ${awaited.length === 1 ? 'is' : 'are'} well${request.pool.policy.soakMs > 0 ? ' and stay so' : ''}`;
}

function fullReason({ request, stands, maxUnavailable }: Situation, give: readonly Assignment[]): string {
  const { pool, otherControlPlaneOut } = request;
  const out = stands.filter(({ isUnavailable }) => isUnavailable).map(({ node }) => ({ name: node.name }));
  const elsewhere = pool.isControlPlane ? otherControlPlaneOut.map((name) => ({ name })) : [];
  const known = new Set([...out, ...elsewhere].map(({ name }) => name));
  const all = [...known, ...give.map(({ node }) => node).filter((name) => !known.has(name))].map((name) => ({ name }));
  const limit = pool.isControlPlane
    ? 'one machine of the control plane at a time'
    : `at most ${machines(maxUnavailable)} at a time (maxUnavailable)`;
  return `${limit}, and out of service ${all.length === 1 ? 'is' : 'are'} ${formatNames(all)}`;
}

/** What a person can do about a rollout that does not go on. */
function describeNextSteps({ request, state }: Situation, phase: Phase): string {
  const { pool, nodes } = request;
  if (phase === 'stopped')
    return '`slipway resume --all` lets them go on (it removes the annotation slipway.dev/stop-rollouts of the MachineConfiguration cluster)';
  if (phase === 'paused') return `Set spec.paused of the pool to false to go on (slipway resume ${pool.name})`;
  if (state === null || state.halted === null) return '';
  const { from, fromOsMajor } = state;
  const refused =
    from === null || pool.policy.onFailure !== 'return'
      ? null
      : downgrade({ config: from, osMajor: fromOsMajor }, nodes);
  const back = refused === null ? '' : `It does not go back to ${from} by itself: ${refused}. `;
  return `${back}Mend that machine, correct the MachineConfigs, go on all the same (slipway resume ${pool.name}), or go back (slipway cancel ${pool.name}) (SLW_ROLLOUT_HALTED)`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
