// A report that is shown again whenever it changes: redrawn on a terminal, a line for each change in a pipe, or JSON.
import { type Io, write } from '../ignition/io.ts';
import { isTerminal, type Paint, paintFor, widthOf } from '../terminal/paint.ts';
import { createScreen } from './screen.ts';

export interface LiveOptions<R> {
  readonly io: Io;
  readonly json: boolean;
  /** As a whole, for a terminal. */
  readonly text: (report: R, options: { readonly paint: Paint; readonly width: number | undefined }) => string;
  /** What has changed since the look before, a line each. Without one, everything is news. */
  readonly changes: (before: R | null, after: R) => string[];
}

/** Shows one look; what it shows depends on the ones before. */
export type Show<R> = (report: R, problem: string | null) => Promise<void>;

export function liveReport<R>(options: LiveOptions<R>): Show<R> {
  if (options.json) return jsonLines(options);
  return isTerminal(options.io.stdout) ? redrawn(options) : lines(options);
}

function redrawn<R>({ io, text }: LiveOptions<R>): Show<R> {
  const screen = createScreen(io.stdout);
  const paint = paintFor(io.stdout);
  return async (report, problem) => {
    const behind = problem === null ? '' : `${paint('yellow', 'This may be behind')}: ${problem}\n`;
    const drawn = text(report, { paint, width: widthOf(io.stdout) });
    await screen.draw(`${drawn}\n${behind}${paint('dim', 'Ctrl-C ends this')}`);
  };
}

/** A document a line, each time something in it is another. */
function jsonLines<R>({ io }: LiveOptions<R>): Show<R> {
  let last = '';
  return async (report) => {
    const line = `${JSON.stringify(report)}\n`;
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
    if (problem !== null && problem !== said) await write(io.stderr, `${at} the cluster does not answer: ${problem}\n`);
    said = problem;
  };
}
