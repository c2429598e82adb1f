/** Reports the progress of long work. */
export interface Progress {
  /** An event that stays on the screen. */
  note(line: string): void;
  /** Progress. Replaces the last line on a terminal; elsewhere printed at first, after 15 s, then ever more rarely. */
  update(line: string): void;
  /** The work is over: removes the last update from a terminal. */
  clear(): void;
}

export const silentProgress: Progress = { note: () => {}, update: () => {}, clear: () => {} };

/**
 * A step on one line: its name and elapsed time, updated while it runs, and the result at the end. `work` may report
 * its progress.
 */
export async function showStep<T>(
  progress: Progress,
  { doing, done }: { doing: string; done: string },
  work: (tell: (detail: string) => void) => Promise<T>,
): Promise<T> {
  const started = Date.now();
  const clock = (): string => formatClock(Date.now() - started);
  let detail = '';
  const show = (): void => progress.update(`${doing}: ${[detail, clock()].filter(Boolean).join(', ')}`);
  const ticking = setInterval(show, 1000);
  try {
    const result = await work((text) => {
      detail = text;
    });
    progress.clear();
    progress.note(`${done}, ${clock()}`);
    return result;
  } finally {
    clearInterval(ticking);
    progress.clear();
  }
}

/** Minutes and seconds. */
export function formatClock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const FIRST_MS = 15_000;

export function terminalProgress(output: Output = process.stderr, now: () => number = Date.now): Progress {
  const erase = '\r\u001B[K';
  let last = -Infinity;
  let pause = FIRST_MS;
  let shown = false;
  const clear = () => {
    if (shown) output.write(erase);
    shown = false;
  };
  return {
    note(line) {
      clear();
      pause = FIRST_MS;
      output.write(`${line}\n`);
    },
    update(line) {
      if (output.isTTY === true) {
        // A wrapped line could not be erased.
        output.write(erase + line.slice(0, (output.columns ?? 80) - 1));
        shown = true;
      } else if (now() - last >= pause) {
        if (last !== -Infinity) pause *= 2;
        last = now();
        output.write(`${line}\n`);
      }
    },
    clear,
  };
}
