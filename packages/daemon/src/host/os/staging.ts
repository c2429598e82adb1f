// Stages a change of the OS for the next boot, completely or not at all, with any tool.
import type { OperatingSystem, OSChange, OSState } from '../host.ts';
import { checkStaged } from './deployment.ts';
import { OSFailure } from './os-commands.ts';

/** The part that differs between tools. The rest of an OperatingSystem is the same for all. */
export type ChangingOS = Pick<OperatingSystem, 'state' | 'stage' | 'discard'>;

/** Starts with nothing staged, and leaves nothing staged if it fails. */
export async function stageWhole(discard: () => Promise<void>, apply: () => Promise<void>): Promise<void> {
  await discard();
  try {
    await apply();
  } catch (error) {
    // The first failure is the one to report. Leftovers are discarded before the next attempt, too.
    await discard().catch(() => undefined);
    throw error;
  }
}

/** Throws if the next boot would lack the change. */
export function expectStaged({ booted, staged }: OSState, change: OSChange): void {
  const missing = checkStaged(booted, staged ?? booted, change);
  if (missing.length === 0) return;
  throw new OSFailure('unknown', 'The staged OS does not match the request', missing.join(' '));
}
