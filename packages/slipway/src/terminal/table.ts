import { type Colour, plain, type Paint } from './paint.ts';
import { safeText } from './safe-text.ts';

/** A word, or one with a colour. */
export type Cell = string | { readonly text: string; readonly colour: Colour };

const MAX_WIDTH = 60;

/** Rows under a head, in columns as wide as they need, the last one free. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[], paint: Paint = plain): string {
  const all = [head, ...rows].map((row) => row.map(cleaned));
  const widths = head.map((_, column) =>
    Math.min(MAX_WIDTH, Math.max(...all.map((row) => row[column]?.text.length ?? 0))),
  );
  const line = (row: readonly Cleaned[]): string =>
    row
      .map(({ text, colour }, column) => {
        const gap = column === row.length - 1 ? '' : ' '.repeat(Math.max(0, (widths[column] ?? 0) - text.length));
        return `${colour === undefined ? text : paint(colour, text)}${gap}`;
      })
      .join('  ')
      .trimEnd();
  return all.map((row) => `${line(row)}\n`).join('');
}

interface Cleaned {
  readonly text: string;
  readonly colour?: Colour;
}

const cleaned = (cell: Cell): Cleaned =>
  typeof cell === 'string' ? { text: escapedLine(cell) } : { text: escapedLine(cell.text), colour: cell.colour };

const escapedLine = (text: string): string => safeText(text).replaceAll('\n', '\\n');
