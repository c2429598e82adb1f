// Runs update-child.ts as a child process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { UpdateResult } from '../updater.ts';
import type { SampleName } from './sample-update.ts';

export interface Ended {
  readonly result: UpdateResult;
  /** How often the update changed the disk. */
  readonly changes: number;
  readonly milliseconds: number;
}

export interface UpdateChild {
  /** Null: it was killed before the end, by itself or after `killAfterMs`. */
  run(order: string, killAfterMs?: number): Promise<Ended | null>;
  end(): Promise<void>;
}

/** `program`: update-child.ts bundled into one file. */
export function startChild(program: string, root: string, name: SampleName): UpdateChild {
  const child = spawn(process.execPath, [program, root, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  // A killed child does not read all its input.
  child.stdin.on('error', () => {});
  return {
    async run(order, killAfterMs) {
      child.stdin.write(`${order}\n`);
      await lines.next();
      const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      const { value, done } = await lines.next();
      clearTimeout(timer);
      // A child killed between its last line and our read counts as killed.
      if (done !== true && !child.killed) return JSON.parse(value) as Ended;
      const [code, signal] = await exit;
      if (signal !== 'SIGKILL')
        throw new Error(`the daemon exited without being killed: ${String(code)} ${String(signal)}`);
      return null;
    },
    async end() {
      child.stdin.end();
      await exit;
    },
  };
}
