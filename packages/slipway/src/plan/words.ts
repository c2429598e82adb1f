/** `1 machine`, `12 machines`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const SHOWN = 5;

/** All of them, or the first few. */
export function nameList(names: readonly string[], all: boolean): string {
  if (all || names.length <= SHOWN + 1) return names.join(', ');
  return `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`;
}
