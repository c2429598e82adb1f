// What people hear of a rollout: events of its pool and lines in the log, when something begins or ends, not while it goes on.
import { machineConfigPools } from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import type { RolloutDecision, RolloutState } from '@slipway/fleet';
import type { Context, Happening, Stored } from '@slipway/kube';

export function tellOfDecision(
  pool: Stored<MachineConfigPool>,
  before: RolloutState | null,
  decision: Told,
  { events, log }: Pick<Context, 'events' | 'log'>,
): void {
  for (const happening of happeningsOf(before, decision)) {
    events.record(machineConfigPools, pool, happening);
    log[happening.type === 'Warning' ? 'warn' : 'info']({ reason: happening.reason }, happening.message);
  }
}

type Told = Pick<RolloutDecision, 'state' | 'ended' | 'summary'>;

export function happeningsOf(before: RolloutState | null, decision: Told): Happening[] {
  return [endOf(decision), beginningOf(before, decision), haltOf(before, decision), holdOf(before, decision)].filter(
    (each) => each !== null,
  );
}

function endOf({ ended }: Told): Happening | null {
  if (ended === null) return null;
  const message = `${ended.config}: ${ended.outcome}, ${ended.nodes} machines. ${ended.why}`;
  return { type: 'Normal', reason: ended.outcome === 'completed' ? 'Completed' : 'RolloutEnded', message };
}

function beginningOf(before: RolloutState | null, { state, summary }: Told): Happening | null {
  if (state === null || state.target === before?.target || state.nodes === 0) return null;
  return { type: 'Normal', reason: 'Updating', message: summary };
}

function haltOf(before: RolloutState | null, { state, summary }: Told): Happening | null {
  const halted = state?.halted ?? null;
  if (halted === null || halted.at === before?.halted?.at) return null;
  const message = `${state?.target}: node ${halted.node} failed: ${halted.reason}. ${summary}`;
  return { type: 'Warning', reason: 'RolloutHalted', message };
}

function holdOf(before: RolloutState | null, { state }: Told): Happening | null {
  const hold = state?.hold ?? null;
  if (hold === null || hold.at === before?.hold?.at) return null;
  return { type: 'Warning', reason: 'RolloutHeld', message: `held at ${state?.target}: ${hold.why}` };
}
