import type { Assignment, RolloutDecision } from './facts.ts';
import type { NodeFacts, RolloutRequest, RolloutState } from './facts.ts';
import { downgrade } from './lifecycle.ts';
import { formatNames, type NodeState } from './node-state.ts';
import type { WaveView } from './waves.ts';

export const machines = (count: number): string => (count === 1 ? '1 machine' : `${count} machines`);

// A rollout in one sentence: what happens, or what it waits for and what to do.

/** The input of a decision. */
export interface Situation {
  readonly request: RolloutRequest;
  readonly target: string;
  readonly stands: readonly NodeState[];
  readonly maxUnavailable: number;
  /** Null: the rollout has not started. */
  readonly state: RolloutState | null;
  readonly wave: WaveView | null;
}

type Phase = RolloutDecision['phase'];

export function computePhase({ request: { pool, stopped }, stands, state }: Situation): Phase {
  // A pool without machines has nothing to update, unless it lost them after one of them had failed.
  const isHalted = stands.length === 0 && (state?.halted ?? null) !== null;
  if (!isHalted && stands.every(({ standing }) => standing === 'well')) return 'updated';
  if (stopped !== null) return 'stopped';
  if (pool.isPaused) return 'paused';
  return state === null || state.halted === null ? 'updating' : 'halted';
}

export function formatSummary(situation: Situation, phase: Phase, give: readonly Assignment[]): string {
  const { target, state } = situation;
  const progress = formatProgress(situation);
  switch (phase) {
    case 'updated':
      return `${progress}${heldThere(situation)}`;
    case 'stopped':
    case 'paused':
      return `${capital(waitReason(situation, phase, give))}. ${progress}; updates in progress finish. ${describeNextSteps(situation, phase)}`;
    case 'halted':
      return `${capital(waitReason(situation, phase, give))}. No other machine gets ${target}. ${progress}. ${describeNextSteps(situation, phase)}`;
    default:
      return joinTexts([heading(state), joinTexts([progress, steps(situation, give)], '; ')], '. ');
  }
}

const joinTexts = (texts: readonly string[], separator: string): string =>
  texts.filter((text) => text !== '').join(separator);

const heading = (state: RolloutState | null): string => {
  if (state === null || state.hold === null) return '';
  const kinds = {
    return: 'Automatically rolling back',
    cancel: 'Cancelled, rolling back',
    rollback: 'Rolling back',
  } as const;
  return `${kinds[state.hold.kind]} to ${state.target}: ${state.hold.why}`;
};

/** Why every machine stays at an old config, and how to continue. */
function heldThere({ state, request: { pool } }: Situation): string {
  if (state === null || state.hold === null) return '';
  return `. The pool is held there: ${state.hold.why}. To continue to ${pool.newest}: slipway resume ${pool.name}`;
}

function formatProgress({ request: { pool }, stands, target }: Situation): string {
  const well = stands.filter(({ standing }) => standing === 'well').length;
  if (stands.length === 0) return `Pool ${pool.name} has no machines; its target is ${target}`;
  if (well === stands.length) return `All machines in pool ${pool.name} have ${target}`;
  return `${well} of ${machines(stands.length)} in pool ${pool.name} ${well === 1 ? 'has' : 'have'} ${target}`;
}

function steps(situation: Situation, give: readonly Assignment[]): string {
  const { stands, wave } = situation;
  // Machines that are being assigned the target count as updating: they are by the time anything reads this.
  const moving = [...selectNodes(stands, 'moving'), ...give.map(({ node }) => ({ name: node }))];
  const failed = selectNodes(stands, 'failed');
  const drifted = selectNodes(stands, 'drifted');
  const isLeft = stands.some(({ standing }) => standing === 'available' || standing === 'resting');
  const texts = [
    wave !== null && wave.of > 1 ? `wave ${wave.number} of ${wave.of}` : '',
    moving.length > 0 ? `updating: ${formatNames(moving)}` : '',
    failed.length > 0 ? `failed: ${formatNames(failed)}` : '',
    drifted.length > 0 ? `drifted: ${formatNames(drifted)}` : '',
    blockedDrains(situation.request.nodes),
    skippedOnes(stands),
    give.length === 0 && isLeft ? waitReason(situation, 'updating', give) : '',
  ];
  return joinTexts(texts, '; ');
}

const selectNodes = (stands: readonly NodeState[], standing: NodeState['standing']) =>
  stands.filter((stand) => stand.standing === standing).map(({ node }) => node);

/** What drains wait for; '' if none is blocked. */
export function blockedDrains(nodes: readonly NodeFacts[]): string {
  const blocked = nodes.filter(({ drainBlocked }) => drainBlocked !== '');
  const first = blocked.reduce((a, b) => (a === undefined || b.name < a.name ? b : a), blocked[0]);
  if (first === undefined) return '';
  const more = blocked.length > 1 ? `, and ${blocked.length - 1} more blocked drains` : '';
  return `the drain of ${first.name} is blocked: ${first.drainBlocked}${more}`;
}

function skippedOnes(stands: readonly NodeState[]): string {
  const skipped = selectNodes(stands, 'skipped');
  return skipped.length === 0 ? '' : `skipped for now: ${formatNames(skipped)}`;
}

/** Why a machine that could be assigned the target is not. */
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
  const which = `wave ${wave.number} of ${wave.of} is limited to ${machines(wave.size)}`;
  if (wave.soaksUntil !== null) {
    return `${which} and must stay healthy until ${new Date(wave.soaksUntil).toISOString()}`;
  }
  const awaited = [...wave.unwell, ...give.map(({ node }) => ({ name: node }))];
  const soak = request.pool.policy.soakMs > 0 ? ' and the soak time has passed' : '';
  return `${which}; the next wave starts when ${formatNames(awaited)} ${awaited.length === 1 ? 'is' : 'are'} healthy${soak}`;
}

function fullReason({ request, stands, maxUnavailable }: Situation, give: readonly Assignment[]): string {
  const { pool, otherControlPlaneOut } = request;
  const out = stands.filter(({ isUnavailable }) => isUnavailable).map(({ node }) => ({ name: node.name }));
  const elsewhere = pool.isControlPlane ? otherControlPlaneOut.map((name) => ({ name })) : [];
  const known = new Set([...out, ...elsewhere].map(({ name }) => name));
  const all = [...known, ...give.map(({ node }) => node).filter((name) => !known.has(name))].map((name) => ({ name }));
  const limit = pool.isControlPlane
    ? 'at most 1 control-plane machine may be unavailable'
    : `at most ${machines(maxUnavailable)} may be unavailable (maxUnavailable)`;
  return `${limit}; unavailable now: ${formatNames(all)}`;
}

/** What a user can do about a rollout that does not continue. */
function describeNextSteps({ request, state }: Situation, phase: Phase): string {
  const { pool, nodes } = request;
  if (phase === 'stopped')
    return 'To continue: slipway resume --all (it removes the annotation slipway.dev/stop-rollouts from MachineConfiguration cluster)';
  if (phase === 'paused') return `To continue: slipway resume ${pool.name} (it sets spec.paused of the pool to false)`;
  if (state === null || state.halted === null) return '';
  const { from, fromOsMajor } = state;
  const refused =
    from === null || pool.policy.onFailure !== 'return'
      ? null
      : downgrade({ config: from, osMajor: fromOsMajor }, nodes);
  const back = refused === null ? '' : `It cannot roll back to ${from} automatically: ${refused}. `;
  return `${back}Repair that machine, correct the MachineConfigs, continue anyway (slipway resume ${pool.name}), or roll back (slipway cancel ${pool.name}) (SLW_ROLLOUT_HALTED)`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
