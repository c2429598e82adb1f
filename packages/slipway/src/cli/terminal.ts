// Human-readable text: colours, columns, bars, short names and durations.
import { styleText } from 'node:util';
import { oneLine } from '@slipway/base/text';

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** In powers of a thousand, like registries and disks: `1.2 GB`. */
export function byteSize(bytes: number): string {
  let [value, unit] = [bytes, 0];
  // A value that rounds up to a thousand moves to the next unit.
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

const RENDERED = /\b(rendered-[a-z0-9.-]+-[0-9a-f]{8})[0-9a-f]{24}\b/g;

/** Shortens rendered configs to `rendered-worker-1f2e3d4c…`: still unique, and enough for `slipway rollback --to`. */
export const shortConfigs = (text: string): string => text.replaceAll(RENDERED, '$1…');

export const shortConfig = (name: string | null): string => (name === null ? '-' : shortConfigs(name));

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The two largest units: `2 h 5 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole} s`;
  // Past a minute, seconds are noise. A value that rounds up to the next unit moves there.
  const minutes = Math.round(whole / MINUTE);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return pair(hours, 'h', minutes % 60, 'min');
  const allHours = Math.round(whole / HOUR);
  return pair(Math.floor(allHours / 24), 'd', allHours % 24, 'h');
}

const pair = (large: number, unit: string, small: number, smaller: string): string =>
  small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;

/** `registry.example.com/os@sha256:1f2e3d4c5b6a…`: enough to distinguish two images. */
export const shortImage = (reference: string): string =>
  reference.replace(/(@sha256:[0-9a-f]{12})[0-9a-f]{52}$/, '$1…');

/** The same for every image in a text. */
export const shortImages = (text: string): string =>
  text.replaceAll(/(@sha256:[0-9a-f]{12})[0-9a-f]{52}(?![0-9a-f])/g, '$1…');

export type Colour = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';
export type Paint = (colour: Colour, text: string) => string;

export const plain: Paint = (_colour, text) => text;
const coloured: Paint = (colour, text) => (text === '' ? '' : styleText(colour, text, { validateStream: false }));

/** https://no-color.org: set and not empty means none. */
export function paintFor(stream: object, env: Readonly<Record<string, string | undefined>> = process.env): Paint {
  const { NO_COLOR: noColour = '', TERM: terminal = '' } = env;
  return isTerminal(stream) && noColour === '' && terminal !== 'dumb' ? coloured : plain;
}

export const isTerminal = (stream: object): boolean => 'isTTY' in stream && stream.isTTY === true;

/** Undefined for a stream that is no terminal or does not report its width. */
const readWidth = (stream: object): number | undefined =>
  isTerminal(stream) && 'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0
    ? stream.columns
    : undefined;

/** How text is written for a stream. */
export interface TextStyle {
  readonly paint: Paint;
  /** Width of the terminal, for wrapping. Undefined: no wrapping. */
  readonly width: number | undefined;
}

export const styleFor = (stream: object): TextStyle => ({ paint: paintFor(stream), width: readWidth(stream) });

const WIDTH = 20;

/** `[########------------]`: never full before all is done, never empty once something is. */
export function progressBar(done: number, total: number): string {
  const share = total === 0 ? 1 : done / total;
  const exact = Math.round(share * WIDTH);
  const filled = share >= 1 ? WIDTH : Math.min(WIDTH - 1, done > 0 ? Math.max(1, exact) : 0);
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]`;
}

// Text from a cluster or a config must not move the terminal's cursor or reverse the text direction.
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function safeText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same on one line, for a sentence or a cell. */
export const safeLine = (text: string): string => oneLine(safeText(text));

/** Text, optionally with a colour. */
export type Cell = string | { readonly text: string; readonly colour: Colour };

const MAX_WIDTH = 60;

/** Aligned columns below a header. The last column has no width limit. */
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

/** Wraps text between words at `width`. A longer word stays whole. Without a width: one line. */
export function wrapText(text: string, width?: number): string[] {
  if (width === undefined) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > width && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

const SHOWN = 5;

/** All of them, or the first few. */
export function nameList(names: readonly string[], all: boolean): string {
  if (all || names.length <= SHOWN + 1) return names.join(', ');
  return `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`;
}
