/**
 * For each text the prefix that it begins with and is longer than, or null. In sorted order all texts with one prefix stand
 * together, right behind it, so one pass is enough however many there are.
 */
export function findPrefixes(prefixes: readonly string[], texts: readonly string[]): (string | null)[] {
  const found: (string | null)[] = texts.map(() => null);
  if (prefixes.length === 0) return found;
  const order = texts.map((text, index) => ({ text, index })).sort((a, b) => compare(a.text, b.text));
  const waiting = prefixes.toSorted(compare);
  let next = 0;
  let current: string | null = null;
  for (const { text, index } of order) {
    for (let prefix = waiting[next]; prefix !== undefined && prefix < text; prefix = waiting[next]) {
      if (current === null || !prefix.startsWith(current)) current = prefix;
      next += 1;
    }
    if (current !== null && text !== current && text.startsWith(current)) found[index] = current;
  }
  return found;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
