// Private keys in PEM, OpenSSH, OpenVPN and PuTTY form, whole or cut at either end. They span lines, or are one line of JSON.
import { HIDDEN, hideLine } from './secret-names.ts';

const BEGIN =
  /-----BEGIN (?:(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|Private-Lines: \d{1,3}/g;
const END =
  /-----END (?:(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----|Private-MAC: /g;
/** What can belong to a key whose other end is missing, also after the time and the program of a log. */
const KEY_LINE =
  /^(?:[^[\]]{1,120}\[\d{1,9}\]: )?[\s+\-"'|>#]{0,64}(?:[A-Za-z0-9+/]{16,}={0,2}|(?:Proc-Type|DEK-Info|Comment|Version|Encryption): .{0,200})?\\?["',]{0,3}\s{0,8}$/;
const LAST_LINE = /^(?:[^[\]]{1,120}\[\d{1,9}\]: )?[\s+\-"'|>#]{0,64}[A-Za-z0-9+/=]{1,76}\\?["',]{0,3}\s{0,8}$/;
const MAX_KEY_LINES = 400;

/** Changes and returns the list. */
export function maskPrivateKeys(lines: string[]): string[] {
  const marked = lines.flatMap((line, index) => (line.includes('---') || line.includes('Private-') ? [index] : []));
  if (marked.length === 0) return lines;
  const ends = marked.filter((index) => findFrom(END, lines[index] ?? '', 0) !== null);
  let hiddenTo = -1;
  for (const index of marked) {
    const line = lines[index] ?? '';
    const { text, isOpen, startsInside } = maskLine(line, index <= hiddenTo);
    lines[index] = text;
    if (startsInside) hideBefore(lines, index);
    if (!isOpen || index < hiddenTo) continue;
    hiddenTo = findKeyEnd(lines, index, ends);
    for (let inside = index + 1; inside <= hiddenTo; inside += 1) {
      const hidden = lines[inside] ?? '';
      if (findFrom(END, hidden, 0) === null) lines[inside] = hideLine(hidden);
    }
  }
  return lines;
}

interface MaskedKeyLine {
  readonly text: string;
  /** A key continues in the next line. */
  readonly isOpen: boolean;
  /** The line has the end of a key whose start is missing. */
  readonly startsInside: boolean;
}

function maskLine(line: string, isInside: boolean): MaskedKeyLine {
  let text = '';
  let from = 0;
  let inKey = isInside;
  let startsInside = false;
  for (;;) {
    const next = findFrom(inKey ? END : BEGIN, line, from);
    if (next === null && !inKey && from === 0) {
      const end = findFrom(END, line, 0);
      if (end === null) return { text: line, isOpen: false, startsInside };
      startsInside = true;
      text = hideKeyText(line.slice(0, end.start)) + line.slice(end.start, end.end);
      from = end.end;
      continue;
    }
    if (next === null) {
      const rest = line.slice(from);
      return { text: text + (inKey ? hideKeyText(rest) : rest), isOpen: inKey, startsInside };
    }
    const before = line.slice(from, next.start);
    text += (inKey ? hideKeyText(before) : before) + line.slice(next.start, next.end);
    from = next.end;
    inKey = !inKey;
  }
}

function findFrom(
  pattern: RegExp,
  line: string,
  from: number,
): { readonly start: number; readonly end: number } | null {
  pattern.lastIndex = from;
  const match = pattern.exec(line);
  return match === null ? null : { start: match.index, end: match.index + match[0].length };
}

/** Line breaks and quotes around a key are no secret. */
function hideKeyText(text: string): string {
  return /[A-Za-z0-9]{3}/.test(text) && !text.includes(HIDDEN) ? HIDDEN : text;
}

/** The line with the end of the key, or the last line that can belong to it. */
function findKeyEnd(lines: readonly string[], first: number, ends: readonly number[]): number {
  const end = ends[findFirstAfter(ends, first)];
  if (end !== undefined && end - first <= MAX_KEY_LINES) return end;
  let last = first;
  while (last + 1 < lines.length && KEY_LINE.test(lines[last + 1] ?? '')) last += 1;
  return last;
}

/** `sorted` is searched by halves: a hostile text may have a key in every line. */
function findFirstAfter(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

function hideBefore(lines: string[], end: number): void {
  for (let index = end - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    const belongs = KEY_LINE.test(line) || (index === end - 1 && LAST_LINE.test(line));
    if (!belongs || line.trim() === '' || line.includes(HIDDEN)) return;
    lines[index] = hideLine(line);
  }
}
