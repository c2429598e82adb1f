// Formats a diff as text for a terminal or a review.
import type { ContentsDiff, Hunk } from './contents.ts';
import type { ItemDiff } from './index.ts';
import type { FieldChange } from './leaves.ts';

const MARKS: Readonly<Record<ItemDiff['change'], string>> = { added: '+', removed: '-', changed: '~' };
const MAX_LINE = 500;
// A config is untrusted: control and bidirectional characters, which affect the terminal, are shown as codes.
const UNSAFE = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function formatDiff(items: readonly ItemDiff[]): string {
  if (items.length === 0) return 'no difference\n';
  const count = (change: ItemDiff['change']) => items.filter((item) => item.change === change).length;
  const summary = `${count('added')} added, ${count('removed')} removed, ${count('changed')} changed`;
  return `${[...items.map((item) => formatItem(item)), summary].join('\n\n')}\n`;
}

/** One differing item, without a trailing newline; `note` follows its name. */
export function formatItem(item: ItemDiff, note = ''): string {
  const name = item.name === '' ? '' : ` ${safe(item.name)}`;
  const title = `${MARKS[item.change]} ${item.noun}${name}${note === '' ? '' : `  ${safe(note)}`}`;
  // For a removed item the name is sufficient.
  if (item.change === 'removed') return title;
  const lines = [
    ...item.fields.map(formatField),
    ...item.contents.flatMap(({ name, diff }) => formatContents(name, diff)),
  ];
  return [title, ...lines.map((line) => `    ${line}`)].join('\n');
}

function formatField({ name, before, after }: FieldChange): string {
  if (before === null) return `+ ${name}: ${safe(after ?? '')}`;
  if (after === null) return `- ${name}: ${safe(before)}`;
  return `${name}: ${safe(before)} → ${safe(after)}`;
}

function formatContents(name: string, diff: ContentsDiff): string[] {
  switch (diff.kind) {
    case 'text':
      return [...(name === 'contents' ? [] : [`${name}:`]), ...diff.hunks.flatMap(formatHunk)];
    case 'bytes': {
      const show = (side: typeof diff.before) =>
        side === null ? 'nothing' : `${side.size} bytes, sha256-${side.sha256}`;
      const what = diff.reason === 'binary' ? 'binary' : 'too large or too different to show by line';
      return [`${name} (${what}): ${show(diff.before)} → ${show(diff.after)}`];
    }
    case 'hidden': {
      const show = (size: number | null) => (size === null ? 'nothing' : `${size} bytes`);
      return [`${name} (hidden): ${show(diff.before)} → ${show(diff.after)}`];
    }
    case 'words':
      return [`${name}: ${safe(diff.before)} → ${safe(diff.after)}`];
  }
}

function formatHunk(hunk: Hunk): string[] {
  // In unified diffs, a side without lines is identified by the line before it.
  const side = (start: number, lines: number) => `${lines === 0 ? start - 1 : start},${lines}`;
  const range = `@@ -${side(hunk.oldStart, hunk.oldLines)} +${side(hunk.newStart, hunk.newLines)} @@`;
  return [range, ...hunk.lines.map(safe)];
}

function safe(text: string): string {
  const cut = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}… (${text.length} characters)` : text;
  return cut.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
