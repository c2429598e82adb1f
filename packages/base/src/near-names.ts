// Suggestions for a name that does not exist: a typo has a near name that does.

/** Only this much of a long name is compared. */
const MAX_COMPARED = 120;
const MAX_NAMES = 3;

/** The names that a user who typed `asked` may have meant, closest first. */
export function nearNames(asked: string, names: Iterable<string>): string[] {
  const farthest = Math.max(2, Math.floor(asked.length / 4));
  return [...new Set(names)]
    .map((name) => ({ name, distance: computeDistance(asked, name) }))
    .filter(({ distance }) => distance <= farthest)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name);
}

/** Zero if the name contains `asked`, otherwise the number of letters that must change. */
function computeDistance(asked: string, name: string): number {
  if (asked.length >= 3 && name.includes(asked)) return 0;
  const [a, b] = [asked.slice(0, MAX_COMPARED), name.slice(0, MAX_COMPARED)];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
