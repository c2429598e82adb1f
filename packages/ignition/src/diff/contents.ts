// Compares contents for a human reader: text line by line, anything else by size and hash.
import { structuredPatch } from 'diff';
import { gunzip } from '../compression.ts';
import { decodeDataUrl } from '../data-url.ts';
import { digest } from '../resolve/hash.ts';
import { maskUrl } from '../resolve/problem.ts';

/** The value of a field before comparison. */
export type Contents =
  | { kind: 'none' }
  | { kind: 'bytes'; bytes: Uint8Array }
  /** Not in the config, or unreadable: only descriptions can be compared. */
  | { kind: 'words'; words: string };

export interface BytesSummary {
  size: number;
  sha256: string;
}

export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** Each line starts with its mark: ` `, `-`, `+`, or `\` for the note about a missing last newline. */
  lines: string[];
}

export type ContentsDiff =
  | { kind: 'text'; hunks: Hunk[] }
  /** Binary, or text too large or too different to show by line. Null: no contents. */
  | { kind: 'bytes'; reason: 'binary' | 'large'; before: BytesSummary | null; after: BytesSummary | null }
  | { kind: 'hidden'; before: number | null; after: number | null }
  | { kind: 'words'; before: string; after: string };

const MAX_UNPACKED = 16 * 1024 * 1024;
const MAX_TEXT = 1024 * 1024;
/** Maximum number of differing lines: the time for a diff grows with its square. */
const MAX_EDITS = 2000;
// Control characters that do not occur in plain text.
const BINARY = /(?![\t\n\r\f])\p{Cc}/u;

/** The contents of a resource (or a string field) of a config. */
export async function readContents(source: string | undefined, compression: string | undefined): Promise<Contents> {
  if (source === undefined) return { kind: 'none' };
  if (source === '') return { kind: 'bytes', bytes: new Uint8Array() };
  if (!source.startsWith('data:')) return { kind: 'words', words: `fetched from ${maskUrl(source)}` };
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) return { kind: 'words', words: `unreadable data URL: ${decoded.problem}` };
  if (compression !== 'gzip') return { kind: 'bytes', bytes: decoded.bytes };
  const unpacked = await gunzip(decoded.bytes, { maxBytes: MAX_UNPACKED });
  return unpacked.ok
    ? { kind: 'bytes', bytes: unpacked.bytes }
    : { kind: 'words', words: `unreadable gzip contents: ${unpacked.problem}` };
}

/** How contents are shown. */
export interface ContentsMask {
  /** Only sizes are shown. */
  readonly hidden: boolean;
  /** Masks secrets in a text. It must not change the number of lines. */
  readonly maskText: (text: string) => string;
}

/** Null if there is no difference. */
export async function diffContents(
  before: Contents,
  after: Contents,
  { hidden, maskText }: ContentsMask,
): Promise<ContentsDiff | null> {
  if (isSame(before, after)) return null;
  if (before.kind === 'words' || after.kind === 'words') {
    return { kind: 'words', before: describeContents(before), after: describeContents(after) };
  }
  if (hidden) return { kind: 'hidden', before: countBytes(before), after: countBytes(after) };
  const [oldText, newText] = [decodeText(before), decodeText(after)];
  const isText = oldText !== null && newText !== null;
  const hunks = isText ? diffText(oldText, newText) : null;
  if (hunks !== null && isText) maskHunks(hunks, maskText(oldText).split('\n'), maskText(newText).split('\n'));
  if (hunks !== null) return { kind: 'text', hunks };
  const summaries = { before: await summarise(before), after: await summarise(after) };
  return { kind: 'bytes', reason: isText ? 'large' : 'binary', ...summaries };
}

function isSame(a: Contents, b: Contents): boolean {
  if (a.kind === 'bytes' && b.kind === 'bytes') {
    return a.bytes.length === b.bytes.length && a.bytes.every((byte, index) => byte === b.bytes[index]);
  }
  if (a.kind === 'words' && b.kind === 'words') return a.words === b.words;
  return a.kind === b.kind;
}

function describeContents(contents: Contents): string {
  if (contents.kind === 'words') return contents.words;
  return contents.kind === 'none' ? 'nothing' : `${contents.bytes.length} bytes in the config`;
}

function countBytes(contents: Contents): number | null {
  return contents.kind === 'bytes' ? contents.bytes.length : null;
}

async function summarise(contents: Contents): Promise<BytesSummary | null> {
  if (contents.kind !== 'bytes') return null;
  return { size: contents.bytes.length, sha256: await digest(contents.bytes, 'SHA-256') };
}

/** Null if the bytes are not text. */
function decodeText(contents: Contents): string | null {
  if (contents.kind !== 'bytes') return '';
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(contents.bytes);
    return BINARY.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Null if the diff would be too large to compute or to read. */
function diffText(before: string, after: string): Hunk[] | null {
  if (before.length > MAX_TEXT || after.length > MAX_TEXT) return null;
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: 3, maxEditLength: MAX_EDITS });
  return patch?.hunks ?? null;
}

/** Compared whole, shown masked: a changed secret is a difference, and a masked line depends on the lines around it. */
function maskHunks(hunks: readonly Hunk[], before: readonly string[], after: readonly string[]): void {
  for (const hunk of hunks) {
    let [oldAt, newAt] = [hunk.oldStart - 1, hunk.newStart - 1];
    hunk.lines = hunk.lines.map((line) => {
      const [mark, text] = [line.slice(0, 1), line.slice(1)];
      if (mark === '-') return mark + (before[oldAt++] ?? text);
      if (mark === '+') return mark + (after[newAt++] ?? text);
      if (mark !== ' ') return line;
      oldAt += 1;
      return mark + (after[newAt++] ?? text);
    });
  }
}
