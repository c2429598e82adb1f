// What `resume` has to do about a pool.
import type { MachineConfigPool } from '@slipway/api';
import { poolFactsOf, type RolloutState } from '@slipway/fleet';

export interface NextResume {
  readonly isPaused: boolean;
  /** What else keeps it, for people, such as `held at …`: the controller has to be asked about that. Null: nothing. */
  readonly ask: string | null;
}

export function nextResume(pool: MachineConfigPool): NextResume {
  const { isPaused, held, state } = poolFactsOf(pool).pool;
  return { isPaused, ask: haltOf(state) ?? holdOf(held) ?? (isPaused ? null : moveOf(state)) };
}

const haltOf = (state: RolloutState | null): string | null =>
  state === null || state.halted === null ? null : `halted because of node ${state.halted.node}`;

const holdOf = (held: string | null): string | null => (held === null ? null : `held at ${held}`);

/** Whether it waits for a machine that is away, and can go on without it, is for the controller to say. */
const moveOf = (state: RolloutState | null): string | null =>
  state === null || state.endedAt !== null ? null : `on its way to ${state.target}`;
