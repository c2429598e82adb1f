// Drift that somebody makes on a machine, for tests: a table of these, and one test each.
import type { Drift } from './drift.ts';

export interface DriftCase {
  readonly name: string;
  readonly change: (at: (path: string) => string) => void;
  readonly expected: Partial<Drift>;
  readonly needsRoot?: true;
}

/** Whether whoever runs the tests is not allowed to make it, and what its name then ends with. */
export function howToRun({ needsRoot }: DriftCase): { readonly isSkipped: boolean; readonly note: string } {
  const isSkipped = needsRoot === true && process.getuid?.() !== 0;
  return { isSkipped, note: isSkipped ? ' (SKIPPED: only root can change owners)' : '' };
}
