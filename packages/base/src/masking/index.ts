// Hides secrets in text by its content: for logs, events, conditions, diffs and reports. The number of lines stays the
// same, so that the lines of a diff can be replaced one by one. What is masked already stays unchanged.
import { type Continuation, findClosing, maskAssignments, type MaskedLine, maskFlags } from './assignments.ts';
import { findWrappedSecrets, maskEncoded } from './encoded-secrets.ts';
import { maskPrivateKeys } from './private-keys.ts';
import { HIDDEN, hideLine, indentOf } from './secret-names.ts';
import { maskSecretObjects } from './secret-objects.ts';
import { maskTokens } from './secret-tokens.ts';

export { HIDDEN, isSecretName } from './secret-names.ts';

/** `pw=1` is the shortest line that could have a secret. */
const MIN_LINE = 4;
/** Decoded base64 may contain base64. */
const MAX_DEPTH = 3;
/** An unclosed quote hides at most this many lines. */
const MAX_QUOTED_LINES = 200;

/**
 * Short texts without a secret. Logs and events repeat names and messages; checking each of them again took most of the
 * time of a log line.
 */
const harmless = new Set<string>();
const MAX_HARMLESS = 2000;
const MAX_HARMLESS_CHARS = 200;

export function maskSecrets(text: string): string {
  if (harmless.has(text)) return text;
  const masked = maskAt(text, 0);
  if (masked === text && text.length <= MAX_HARMLESS_CHARS) {
    if (harmless.size === MAX_HARMLESS) harmless.clear();
    harmless.add(text);
  }
  return masked;
}

function maskAt(text: string, depth: number): string {
  if (text.length < MIN_LINE) return text;
  const hasSecret = (decoded: string): boolean => depth < MAX_DEPTH && maskAt(decoded, depth + 1) !== decoded;
  const lines = maskSecretObjects(maskPrivateKeys(text.split('\n')));
  for (const index of findWrappedSecrets(lines, hasSecret)) lines[index] = hideLine(lines[index] ?? '');
  const masker = createLineMasker(lines, hasSecret);
  return lines.map((line, index) => masker(line, index)).join('\n');
}

function createLineMasker(
  lines: readonly string[],
  hasSecret: (decoded: string) => boolean,
): (line: string, index: number) => string {
  let pending: Continuation = NONE;
  return (line, index) => {
    const continued = continueSecret(pending, lines, index);
    if (continued !== null) {
      pending = continued.next;
      return continued.text;
    }
    if (line.length < MIN_LINE) {
      pending = NONE;
      return line;
    }
    const carriage = line.endsWith('\r') ? '\r' : '';
    const assigned = maskAssignments(maskEncoded(maskTokens(carriage === '' ? line : line.slice(0, -1)), hasSecret));
    const flagged = maskFlags(assigned.text);
    pending = assigned.next.kind === 'none' ? flagged.next : assigned.next;
    return flagged.text + carriage;
  };
}

const NONE: Continuation = { kind: 'none' };

/** The line as a part of a secret that an earlier line started. Null: it is a line of its own. */
function continueSecret(pending: Continuation, lines: readonly string[], index: number): MaskedLine | null {
  const line = lines[index] ?? '';
  switch (pending.kind) {
    case 'none':
      return null;
    case 'continued':
      return { text: hideLine(line), next: line.endsWith('\\') ? pending : NONE };
    case 'next value':
      return continueWithValue(line);
    case 'quoted':
      return continueQuoted(pending, lines, index);
    case 'block':
      return line.trim() === '' || indentOf(line) > pending.indent ? { text: hideLine(line), next: pending } : null;
    case 'perhaps block':
      return isBlockValue(line, pending.indent) ? { text: hideLine(line), next: NONE } : null;
  }
}

function continueWithValue(line: string): MaskedLine | null {
  const [, mark = '', value = ''] = /^([+\-\s#]*["']?)(.*)$/.exec(line.trimEnd()) ?? [];
  return value === '' || value.startsWith('-') ? null : { text: mark + HIDDEN, next: NONE };
}

function continueQuoted(
  pending: Extract<Continuation, { kind: 'quoted' }>,
  lines: readonly string[],
  index: number,
): MaskedLine | null {
  const line = lines[index] ?? '';
  const end = findClosing(line, 0, pending.quote);
  if (end !== -1) return { text: HIDDEN + line.slice(end), next: NONE };
  return isClosedLater(lines, index, pending.quote) ? { text: hideLine(line), next: pending } : null;
}

/** Not a map or a list below the name. */
function isBlockValue(line: string, indent: number): boolean {
  return indentOf(line) > indent && line.trim() !== '' && !/^[+\-\s#]*(?:-\s|[\w."'-]{1,128}\s*[:=])/.test(line);
}

function isClosedLater(lines: readonly string[], index: number, quote: string): boolean {
  return lines.slice(index, index + MAX_QUOTED_LINES).some((line) => findClosing(line, 0, quote) !== -1);
}
