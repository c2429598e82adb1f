import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolsError } from '../controlplane/errors.ts';
import type { IronicProgram } from './environment.ts';

/** A running program of the environment, with its child processes. */
export interface PythonProgram {
  /** Like a power failure: immediately, in the middle of any work. A program that has already ended is fine. */
  kill(): Promise<void>;
  /** Waits until this is true; throws if the program ends first or the time is up. */
  waitUntil(isReady: () => Promise<boolean>, withinMs: number): Promise<void>;
}

export interface PythonStart {
  name: string;
  program: IronicProgram;
  script: string;
  args: readonly string[];
  /** Everything it writes stays in this directory. */
  directory: string;
}

const POLL_MS = 50;

export async function startPython({ name, program, script, args, directory }: PythonStart): Promise<PythonProgram> {
  const logFile = join(directory, `${name}.log`);
  const log = await open(logFile, 'a', 0o600);
  // -P: modules are never loaded from the script's directory, where a file may have the name of one.
  const child = spawn(program.python, ['-P', join(import.meta.dirname, 'run.py'), script, ...args], {
    // The pipe shows run.py that this process is alive.
    stdio: ['pipe', log.fd, log.fd],
    // A separate process group: Ironic starts child processes, which end with it.
    detached: true,
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory, TMPDIR: directory, ...program.env },
  });
  let ended: string | undefined;
  const exit = once(child, 'exit').then(
    ([code, signal]) => (ended = signal === null ? `exit code ${String(code)}` : `signal ${String(signal)}`),
    (error: Error) => (ended = error.message),
  );
  await log.close();

  const signalAll = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The last of the group is gone.
    }
  };
  const kill = async () => {
    signalAll('SIGKILL');
    await exit;
  };
  const failed = async (why: string) => {
    const text = await readFile(logFile, 'utf8').catch(() => '');
    return new ToolsError('SLW_TOOLS_START_FAILED', `${name} ${why}. The end of its log:\n${text.trim().slice(-2000)}`);
  };

  return {
    kill,
    async waitUntil(isReady, withinMs) {
      const until = Date.now() + withinMs;
      while (!(await isReady())) {
        if (ended === undefined && Date.now() < until) {
          await delay(POLL_MS);
          continue;
        }
        const error = await failed(
          ended === undefined ? `is not ready after ${withinMs / 1000} s` : `exited (${ended})`,
        );
        await kill();
        throw error;
      }
    },
  };
}
