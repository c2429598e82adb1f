// Staging a change of the OS for the next boot, in the way that every tool has in common: all of the change, or nothing of it.
import type { OperatingSystem, OSChange, OSState } from '../host.ts';
import { checkStaged } from './deployment.ts';
import { OSFailure } from './os-commands.ts';

/** What differs between the tools; the rest of an OperatingSystem is the same for all. */
export type ChangingOS = Pick<OperatingSystem, 'state' | 'stage' | 'discard'>;

/** Begins with nothing staged, and leaves nothing staged where it fails. */
export async function stageWhole(discard: () => Promise<void>, apply: () => Promise<void>): Promise<void> {
  await discard();
  try {
    await apply();
  } catch (error) {
    // The first failure is the one to tell; what is left is discarded before the next try, too.
    await discard().catch(() => undefined);
    throw error;
  }
}

/** Throws where the next boot would not bring the change. */
export function expectStaged({ booted, staged }: OSState, change: OSChange): void {
  const missing = checkStaged(booted, staged ?? booted, change);
  if (missing.length === 0) return;
  throw new OSFailure('unknown', 'The OS is not staged as it was asked for', missing.join(' '));
}
