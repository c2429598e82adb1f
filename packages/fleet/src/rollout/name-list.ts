// Machines in a sentence.

const MAX_NAMES = 3;

/** The first few by name, and how many more. There may be thousands: they are not sorted for three. */
export function namesOf(nodes: readonly { readonly name: string }[]): string {
  const first: string[] = [];
  for (const { name } of nodes) {
    if (first.length === MAX_NAMES && name >= (first.at(-1) ?? '')) continue;
    first.push(name);
    first.sort();
    first.length = Math.min(first.length, MAX_NAMES);
  }
  const shown = first.join(', ');
  return nodes.length > MAX_NAMES ? `${shown} and ${nodes.length - MAX_NAMES} more` : shown;
}

export const machines = (count: number): string => (count === 1 ? '1 machine' : `${count} machines`);
