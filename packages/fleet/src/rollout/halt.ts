// When a rollout stops itself, when it goes on, and when it goes back.
import type { NodeFacts, PoolFacts, RolloutState } from './facts.ts';
import { isKnownGood } from './course.ts';
import { namesOf } from './name-list.ts';
import { highestMajor, osMajorOf } from './os-version.ts';
import { isFailing, type Stand } from './standing.ts';

const MAX_REASON = 500;

/** The state with its halt as it must be; the same object where nothing changes. */
export function haltedState(state: RolloutState, pool: PoolFacts, stands: readonly Stand[], now: number): RolloutState {
  if (isKnownGood(state, pool)) return state.halted === null ? state : { ...state, halted: null };
  if (state.halted !== null && !isMended(state.halted.node, stands)) return state;
  const failed = firstFailed(state, stands);
  if (failed === null) return state.halted === null ? state : { ...state, halted: null };
  const halted = { at: new Date(now).toISOString(), node: failed.name, reason: failureOf(failed) };
  return { ...state, halted };
}

/** A machine that is gone mends nothing: somebody must look. */
const isMended = (name: string, stands: readonly Stand[]): boolean =>
  stands.some(({ node, standing }) => node.name === name && standing === 'well');

function firstFailed(state: RolloutState, stands: readonly Stand[]): NodeFacts | null {
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

export function failureOf(node: NodeFacts): string {
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
  const names = nodes.filter(({ current, osImage }) => current !== to.config && osMajorOf(osImage) === above);
  return `${namesOf(names)} ${names.length === 1 ? 'runs' : 'run'} version ${above} of the OS and ${to.config} brings version ${below}: a machine does not go back over a major version by itself. Install it anew, or correct the MachineConfigs (SLW_ROLLOUT_OS_DOWNGRADE)`;
}
