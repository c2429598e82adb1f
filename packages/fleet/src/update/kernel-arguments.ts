// From one list of kernel arguments to another by removing and appending, which is all that the tools of the OS can do.
import type { KernelArgumentsChange } from './update-plan.ts';

export function kernelArgumentsChange(
  current: readonly string[],
  desired: readonly string[],
): KernelArgumentsChange | null {
  const [before, after] = [current.flatMap(splitArguments), desired.flatMap(splitArguments)];
  if (isSameList(before, after)) return null;
  const stays = valuesThatStay(before, after);
  const kept = before.filter((argument) => stays.has(argument)).length;
  const removed = before.filter((argument) => !stays.has(argument));
  return { kind: 'kernel arguments', before, after, removed, added: after.slice(kept) };
}

/** One entry of a MachineConfig may hold several; spaces inside double quotes belong to an argument, as for the kernel. */
export function splitArguments(entry: string): string[] {
  return entry.match(/(?:"[^"]*"?|[^\s"])+/g) ?? [];
}

/**
 * Arguments that need not be touched. What comes is appended, so what stays has to be the beginning of the new list; and of
 * an argument that stands twice all or none stay, since a tool that removes one by its value takes the first it finds.
 */
function valuesThatStay(before: readonly string[], after: readonly string[]): ReadonlySet<string> {
  const [had, has] = [countsOf(before), countsOf(after)];
  const stays = new Set(before.filter((argument) => had.get(argument) === has.get(argument)));
  for (;;) {
    const kept = before.filter((argument) => stays.has(argument));
    const moved = kept.find((argument, index) => argument !== after[index]);
    if (moved === undefined) return stays;
    stays.delete(moved);
  }
}

function countsOf(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
