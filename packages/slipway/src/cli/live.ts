// A report that follows the cluster until Ctrl-C: redrawn on a terminal, one line per change in a pipe, or JSON lines.
import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type Io, maskStrings, write } from './io.ts';
import { isTerminal, styleFor, type TextStyle } from './terminal.ts';

/** State of a cluster, kept up to date. */
export interface LiveSource<T> {
  /** Resolves after everything has been read once. */
  readonly synced: Promise<unknown>;
  now(): T;
  /** Why it may be out of date, human-readable; null while all watches work. */
  problem(): string | null;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

interface FollowOptions<T> {
  readonly watch: (onChange: () => void) => LiveSource<T>;
  readonly show: (now: T, problem: string | null) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Changes come in bursts; those within this time are shown together. */
const BURST_MS = 100;
/** Some decisions change with time alone: a soak ends, a machine has been away for too long. */
const RECHECK_MS = 1000;

export async function follow<T>({ watch, show, signal }: FollowOptions<T>): Promise<void> {
  let wake = (): void => {};
  let isNews = false;
  const followed = watch(() => {
    isNews = true;
    wake();
  });
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([followed.synced, stopped]);
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal }).catch(() => {});
  while (!signal.aborted) {
    isNews = false;
    await show(followed.now(), followed.problem());
    await pause(BURST_MS);
    if (isNews) continue;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await Promise.race([woken, pause(RECHECK_MS)]);
  }
}

interface LiveOptions<R> {
  readonly io: Io;
  readonly json: boolean;
  /** The whole report, for a terminal. */
  readonly text: (report: R, style: TextStyle) => string;
  /** One line per change since `before`. With null, everything is new. */
  readonly changes: (before: R | null, after: R) => string[];
}

/** Shows one report. What it prints depends on the previous ones. */
type Show<R> = (report: R, problem: string | null) => Promise<void>;

export function liveReport<R>(options: LiveOptions<R>): Show<R> {
  if (options.json) return jsonLines(options);
  return isTerminal(options.io.stdout) ? redrawn(options) : lines(options);
}

function redrawn<R>({ io, text }: LiveOptions<R>): Show<R> {
  const screen = createScreen(io.stdout);
  return async (report, problem) => {
    // Read each time: a user can resize the terminal.
    const style = styleFor(io.stdout);
    const { paint } = style;
    const behind = problem === null ? '' : `${paint('yellow', 'This may be out of date')}: ${problem}\n`;
    const drawn = text(report, style);
    await screen.draw(`${drawn}\n${behind}${paint('dim', 'Press Ctrl-C to exit')}`);
  };
}

/** One JSON document per line, each time the report changes. */
function jsonLines<R>({ io }: LiveOptions<R>): Show<R> {
  let last = '';
  return async (report) => {
    const line = `${JSON.stringify(report, maskStrings)}\n`;
    if (line !== last) await write(io.stdout, line);
    last = line;
  };
}

function lines<R>({ io, changes }: LiveOptions<R>): Show<R> {
  let last: R | null = null;
  let said: string | null = null;
  return async (report, problem) => {
    const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const text = changes(last, report).map((line) => `${at} ${line}\n`);
    last = report;
    if (text.length > 0) await write(io.stdout, text.join(''));
    if (problem !== null && problem !== said)
      await write(io.stderr, `${at} the API server does not respond: ${problem}\n`);
    said = problem;
  };
}

/** Text on a terminal that is redrawn in place. */
interface Screen {
  draw(text: string): Promise<void>;
}

const CLEAR_BELOW = '\u001b[J';
/** The terminal cuts long lines: only it knows how wide characters are. */
const NO_WRAP = '\u001b[?7l';
const WRAP = '\u001b[?7h';
const DEFAULT_ROWS = 24;

export function createScreen(stream: Writable & { readonly rows?: number }): Screen {
  let drawn = 0;
  let last = '';
  return {
    async draw(text) {
      const lines = fitted(text.trimEnd().split('\n'), stream.rows ?? DEFAULT_ROWS);
      if (lines.join('\n') === last) return;
      last = lines.join('\n');
      // The previous text fitted too, so its first line is still on the screen.
      const back = drawn === 0 ? '' : `\u001b[${drawn}A`;
      drawn = lines.length;
      await write(stream, `\r${back}${CLEAR_BELOW}${NO_WRAP}${lines.map((line) => `${line}\n`).join('')}${WRAP}`);
    },
  };
}

/** Leaves one row for the cursor. */
function fitted(lines: readonly string[], rows: number): readonly string[] {
  const room = Math.max(1, rows - 1);
  if (lines.length <= room) return lines;
  const shown = lines.slice(0, room - 1);
  return [...shown, `… ${lines.length - shown.length} more lines; enlarge the terminal to see them`];
}
