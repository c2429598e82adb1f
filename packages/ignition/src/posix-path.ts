// Paths on the machine, as the Go client handles them: slash-separated, whatever system this runs on.

const DIRTY = /\/\/|\/\.{1,2}(?:\/|$)|.\/$/;

export function isAbsolute(path: string): boolean {
  return path.startsWith('/');
}

/** Whether an absolute path is in its shortest form: no `//`, `.`, `..` and no trailing slash. */
export function isClean(path: string): boolean {
  return !DIRTY.test(path);
}

export function cleanPath(path: string): string {
  const absolute = isAbsolute(path);
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!absolute) kept.push('..');
  }
  const joined = kept.join('/');
  if (absolute) return `/${joined}`;
  return joined === '' ? '.' : joined;
}

/** Joins the non-empty parts and cleans the result. */
export function joinPaths(...parts: readonly string[]): string {
  const joined = parts.filter((part) => part !== '').join('/');
  return joined === '' ? '' : cleanPath(joined);
}

/** The extension of the last part with its dot; '' if there is none. */
export function getExtension(path: string): string {
  const dot = path.lastIndexOf('.');
  return dot > path.lastIndexOf('/') ? path.slice(dot) : '';
}

/**
 * For each text, a proper prefix of it from `prefixes`, or null. In sorted order all texts with one prefix
 * directly follow it, so that one pass is enough however many there are.
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
