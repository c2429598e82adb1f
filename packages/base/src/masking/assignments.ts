// Values that are secret because of their names: `PASSWORD=…` in env files and units, `token: …` in YAML, `"auth": "…"`
// in JSON, `--token …` on command lines. One pass from separator to separator, so that the time is linear.
import { HIDDEN, indentOf, isHarmlessValue, isSecretName } from './secret-names.ts';

/** What the next line continues. */
export type Continuation =
  | { readonly kind: 'none' }
  /** The value of a flag or a list: `- --password` is followed by `- …`. */
  | { readonly kind: 'next value' }
  /** The line ends in a backslash within a secret. */
  | { readonly kind: 'continued' }
  /** A value in quotes that is not closed yet. */
  | { readonly kind: 'quoted'; readonly quote: string }
  /** A block of YAML: lines with more indentation. */
  | { readonly kind: 'block'; readonly indent: number }
  /** `password:` alone: the next line may be the value, or a map of harmless names. */
  | { readonly kind: 'perhaps block'; readonly indent: number };

export interface MaskedLine {
  readonly text: string;
  readonly next: Continuation;
}

const NONE: Continuation = { kind: 'none' };
const MAX_NAME = 128;
const NAME = /[\w.-]/;
const SPACE = /[ \t]/;

/** Every secret name contains one of these. */
const MAYBE_NAME = /pass|pwd|pw\b|secret|token|key|credential|psk|auth|cookie|community/i;

export function maskAssignments(line: string): MaskedLine {
  if (!MAYBE_NAME.test(line)) return { text: line, next: NONE };
  let masked = '';
  let from = 0;
  let next: Continuation = NONE;
  for (let at = 0; at < line.length; at += 1) {
    const mark = line[at];
    if (mark !== '=' && mark !== ':') continue;
    const name = readName(line, at, from);
    if (name === null || !isSecretName(name.text)) continue;
    const value = readValue(line, at, name);
    if (value === null) continue;
    masked += line.slice(from, value.start) + value.shown;
    from = value.end;
    ({ next } = value);
    at = value.end - 1;
  }
  return { text: masked + line.slice(from), next };
}

interface FoundName {
  readonly text: string;
  readonly start: number;
  /** The quotes around it, in JSON. */
  readonly isQuoted: boolean;
  /** An opening quote directly before it that closes after the value: `"TOKEN=…"`. */
  readonly quoteBefore: string;
}

/** The name that ends before a separator. Null: none. */
function readName(line: string, separator: number, from: number): FoundName | null {
  let end = separator;
  // `+=` of shells, `:=` and `?=` of makefiles.
  if (line[separator] === '=' && /[+:?]/.test(line[end - 1] ?? '')) end -= 1;
  end = skipBack(line, end, from, SPACE, 64);
  const isQuoted = /["'`]/.test(line[end - 1] ?? '');
  if (isQuoted) end = skipBack(line, end - 1, from, /\\/, 8);
  const start = skipBack(line, end, from, NAME, MAX_NAME);
  if (start === end) return null;
  const before = line[start - 1] ?? '';
  // `/etc/passwd: …` and `users[0].passwordHash: …` are a path and a field in a message.
  if (line[separator] === ':' && (before === '/' || before === ']')) return null;
  return {
    // Flags start with hyphens.
    text: line.slice(start, end).replace(/^-+/, ''),
    start,
    isQuoted,
    quoteBefore: !isQuoted && /["'`]/.test(before) ? before : '',
  };
}

function skipBack(line: string, at: number, from: number, what: RegExp, max: number): number {
  let end = at;
  while (end > from && at - end < max && what.test(line[end - 1] ?? '')) end -= 1;
  return end;
}

interface FoundValue {
  readonly start: number;
  readonly end: number;
  readonly shown: string;
  readonly next: Continuation;
}

/** Null: there is none, or it is harmless. */
function readValue(line: string, separator: number, name: FoundName): FoundValue | null {
  let start = separator + 1;
  if (line[separator] === '=' && line[start] === '>') start += 1;
  while (start < line.length && SPACE.test(line[start] ?? '')) start += 1;
  if (line[separator] === ':' && !isMapping(line, separator, start, name)) return null;
  if (start >= line.length) return atEnd(line, separator, name);
  const quoted = readQuoted(line, start);
  if (quoted !== undefined) return quoted;
  const block = /^[|>][+\-\d]{0,3}\s*(?:#.*)?$/.exec(line.slice(start, start + 200));
  if (block !== null && line[separator] === ':') {
    return { start, end: start, shown: '', next: { kind: 'block', indent: indentOf(line) } };
  }
  if (line[separator] === ':' && isProse(line, start, name)) return null;
  return readPlain(line, start, name);
}

/** Of `name:value` without a space: not the tag of an image, not a part of a path or of a longer list, not `${name:-}`. */
function isMapping(line: string, separator: number, start: number, { start: nameStart, isQuoted }: FoundName): boolean {
  // `:=` ends at its `=`.
  if (line[separator + 1] === '=') return false;
  if (isQuoted || start > separator + 1 || start >= line.length) return true;
  const before = line[nameStart - 1] ?? '';
  return (
    (before === '' || /[\s"'{,;(]/.test(before)) &&
    !/^(?:v\d[\w.-]{0,20}|\d+\.\d[\w.-]{0,20}|\/\/.*|:.*|[-?=+]?\}.*)$/.test(line.slice(start, start + 64))
  );
}

/** `BareMetalHost a, spec.bmc.password: must be …`: a field in a message. */
const FIELD = /^(?:metadata|spec)\./;

/** `cannot get a token: unauthorized`: a word after a colon within a sentence. */
function isProse(line: string, start: number, { text, start: nameStart, isQuoted, quoteBefore }: FoundName): boolean {
  if (
    isQuoted ||
    quoteBefore !== '' ||
    isFirstWord(line, nameStart) ||
    (!FIELD.test(text) && /[{,;(]\s?$/.test(line.slice(0, nameStart).slice(-2)))
  )
    return false;
  return /^(?:[A-Za-z]?[a-z]{1,20}|\d{1,3})[.,;:!?)]{0,2}(?:\s|$)/.test(line.slice(start, start + 32));
}

/** Nothing follows the separator: in YAML the value may be on the next line. */
function atEnd(line: string, separator: number, { start }: FoundName): FoundValue | null {
  if (line[separator] !== ':' || !isFirstWord(line, start)) return null;
  return { start: line.length, end: line.length, shown: '', next: { kind: 'perhaps block', indent: indentOf(line) } };
}

/** Undefined: the value has no quotes. */
function readQuoted(line: string, start: number): FoundValue | null | undefined {
  const open = /^(?:\\{1,7}["']|"""|'''|["'`])/.exec(line.slice(start, start + 8))?.[0];
  if (open === undefined) return undefined;
  const inside = start + open.length;
  const end = findClosing(line, inside, open);
  if (end === -1) {
    const shown = inside === line.length ? '' : HIDDEN;
    return { start: inside, end: line.length, shown, next: { kind: 'quoted', quote: open } };
  }
  if (isHarmlessValue(line.slice(inside, end))) return null;
  return { start: inside, end, shown: HIDDEN, next: NONE };
}

/** -1: it is not in this line. */
export function findClosing(line: string, from: number, quote: string): number {
  for (let at = line.indexOf(quote, from); at !== -1; at = line.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (backslashes < 64 && line[at - 1 - backslashes] === '\\' && at - 1 - backslashes >= from) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}

/**
 * Without quotes. The rest of the line if the name is the first word of it, since a value of a configuration file may
 * contain spaces; otherwise up to a space or a quote.
 */
function readPlain(line: string, start: number, name: FoundName): FoundValue | null {
  const end = findPlainEnd(line, start, name);
  const value = line.slice(start, end);
  // A comment after nothing, or a map or list in JSON. `#x` may be a password.
  if (/^(?:$|#(?:\s|$)|[{[]\s*$)/.test(value) || (name.isQuoted && /^[{[]/.test(value))) return null;
  if (isHarmlessValue(value) || isHarmlessValue(value.replace(/[,;)\]}]{1,3}$/, ''))) return null;
  const next: Continuation = end === line.length && value.endsWith('\\') ? { kind: 'continued' } : NONE;
  return { start, end, shown: name.isQuoted ? `"${HIDDEN}"` : HIDDEN, next };
}

function findPlainEnd(line: string, start: number, { start: nameStart, quoteBefore, isQuoted }: FoundName): number {
  const findEnd = (pattern: RegExp): number => {
    const length = line.slice(start).search(pattern);
    return length === -1 ? line.length : start + length;
  };
  if (quoteBefore !== '') {
    const closing = findClosing(line, start, quoteBefore);
    return closing === -1 ? line.length : closing;
  }
  // A number in JSON.
  if (isQuoted) return findEnd(/[\s,}\]]/);
  return isFirstWord(line, nameStart) ? line.trimEnd().length : findEnd(/\\?["'`]|\s/);
}

const BEFORE_FIRST_WORD = /^[+\-\s#;]*(?:(?:export|set|env|Environment=|ENV|ARG|-)\s*){0,3}$/;
const MAX_INDENT = 256;

function isFirstWord(line: string, start: number): boolean {
  return start <= MAX_INDENT && BEFORE_FIRST_WORD.test(line.slice(0, start));
}

const FLAG =
  /(^|[\s"'`,[(=])(--?[A-Za-z][\w.-]{1,64})(\\{0,3}["'`]?(?:[ \t]{1,16}|,[ \t]{0,16})\\{0,3}["'`]?|["'`]?[ \t]{0,16}\\?[ \t]{0,16}$)/g;

/** `--token VALUE`, also as two items of a list. */
export function maskFlags(line: string): MaskedLine {
  if (!line.includes('-')) return { text: line, next: NONE };
  let masked = '';
  let from = 0;
  let next: Continuation = NONE;
  for (const match of line.matchAll(FLAG)) {
    const [whole, , flag = '', gap = ''] = match;
    const start = match.index + whole.length;
    if (match.index < from || !isSecretName(flag.replace(/^-+/, ''))) continue;
    if (start >= line.length) {
      next = { kind: 'next value' };
      continue;
    }
    const end = findArgumentEnd(line, start, gap);
    const value = line.slice(start, end);
    if (value.startsWith('-') || isHarmlessValue(value)) continue;
    masked += line.slice(from, start) + HIDDEN;
    from = end;
  }
  return { text: masked + line.slice(from), next };
}

function findArgumentEnd(line: string, start: number, gap: string): number {
  const quote = /["'`]$/.exec(gap)?.[0] ?? '';
  const closing = quote === '' ? -1 : findClosing(line, start, quote);
  if (closing !== -1) return closing;
  const length = line.slice(start).search(/[\s"'`]/);
  return length === -1 ? line.length : start + length;
}
