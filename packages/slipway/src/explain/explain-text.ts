import type { Explained } from '@slipway/fleet';

// What a config says may not move a terminal's cursor or turn text around.
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const MAX_WIDTH = 60;

function safe(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Rows under a head, in columns as wide as they need, the last one free. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map((cell) => safe(cell).replaceAll('\n', '\\n')));
  const widths = head.map((_, column) => Math.min(MAX_WIDTH, Math.max(...all.map((row) => row[column]?.length ?? 0))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return all.map((row) => `${line(row)}\n`).join('');
}

const listed = (names: readonly string[]): string => (names.length === 0 ? '-' : names.join(', '));

/** Everything, a line each. */
export function overviewText(things: readonly Explained[]): string {
  return table(
    ['KIND', 'NAME', 'SET BY', 'OVERRODE'],
    things.map(({ noun, name, setBy, overrode }) => [noun, name, setBy, listed(overrode)]),
  );
}

/** One thing with its fields, and its contents where it has any. */
export function thingText({ noun, name, setBy, overrode, fields }: Explained, contents: string | undefined): string {
  const title = safe(
    `${noun} ${name}\n  set by ${setBy}${overrode.length === 0 ? '' : `, over ${listed(overrode)}`}\n`,
  );
  // What it is called by is in the title already.
  const rows = fields.filter((field) => field.name !== '' && field.value !== name);
  const shown = table(
    ['FIELD', 'VALUE', 'SET BY', 'OVERRODE'],
    rows.map((field) => [field.name, field.value, field.from, listed(field.overrode)]),
  );
  const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');
  return [
    title,
    ...(rows.length === 0 ? [] : ['\n', indent(shown)]),
    ...(contents === undefined ? [] : ['\n', indent(safe(contents.endsWith('\n') ? contents : `${contents}\n`))]),
  ].join('');
}
