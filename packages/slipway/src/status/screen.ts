// A text on a terminal that is drawn again in its place.
import type { Writable } from 'node:stream';
import { write } from '../ignition/io.ts';

export interface Screen {
  draw(text: string): Promise<void>;
}

const CLEAR_BELOW = '\u001b[J';
/** Lines that are too long are cut by the terminal itself: it knows how wide letters are. */
const NO_WRAP = '\u001b[?7l';
const WRAP = '\u001b[?7h';
const USUAL_ROWS = 24;

export function createScreen(stream: Writable & { readonly rows?: number }): Screen {
  let drawn = 0;
  let last = '';
  return {
    async draw(text) {
      const lines = fitted(text.trimEnd().split('\n'), stream.rows ?? USUAL_ROWS);
      if (lines.join('\n') === last) return;
      last = lines.join('\n');
      // What was drawn before fitted too, so its first line is still on the screen.
      const back = drawn === 0 ? '' : `\u001b[${drawn}A`;
      drawn = lines.length;
      await write(stream, `\r${back}${CLEAR_BELOW}${NO_WRAP}${lines.map((line) => `${line}\n`).join('')}${WRAP}`);
    },
  };
}

/** The cursor stands on a line of its own below. */
function fitted(lines: readonly string[], rows: number): readonly string[] {
  const room = Math.max(1, rows - 1);
  if (lines.length <= room) return lines;
  const shown = lines.slice(0, room - 1);
  return [...shown, `… ${lines.length - shown.length} more lines; a taller terminal shows them`];
}
