/** How long work tells what it is doing. */
export interface Progress {
  /** Something that happened and stays on the screen. */
  note(line: string): void;
  /** How far the work is. Replaces the line before on a terminal, appears every 15 seconds elsewhere. */
  update(line: string): void;
  /** The work is over: takes the last update off a terminal. */
  clear(): void;
}

export const silentProgress: Progress = { note: () => {}, update: () => {}, clear: () => {} };

interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const EVERY_MS = 15_000;

export function terminalProgress(output: Output = process.stderr, now: () => number = Date.now): Progress {
  const erase = '\r\u001B[K';
  let last = -Infinity;
  let shown = false;
  const clear = () => {
    if (shown) output.write(erase);
    shown = false;
  };
  return {
    note(line) {
      clear();
      output.write(`${line}\n`);
    },
    update(line) {
      if (output.isTTY === true) {
        // A line that wraps could not be erased again.
        output.write(erase + line.slice(0, (output.columns ?? 80) - 1));
        shown = true;
      } else if (now() - last >= EVERY_MS) {
        last = now();
        output.write(`${line}\n`);
      }
    },
    clear,
  };
}
