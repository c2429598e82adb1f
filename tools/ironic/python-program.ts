import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolsError } from '../controlplane/errors.ts';
import type { IronicProgram } from './environment.ts';

/** A program of the environment, running, with the processes that it has started. */
export interface PythonProgram {
  /** As a power cut does: at once, in the middle of whatever it does. Fine on a program that has ended already. */
  kill(): Promise<void>;
  /** Waits until this is true; throws when the program ends before, or the time is up. */
  waitUntil(isReady: () => Promise<boolean>, withinMs: number): Promise<void>;
}

export interface PythonStart {
  name: string;
  program: IronicProgram;
  script: string;
  args: readonly string[];
  /** Everything it writes stays below this directory. */
  directory: string;
}

const POLL_MS = 50;

export async function startPython({ name, program, script, args, directory }: PythonStart): Promise<PythonProgram> {
  const logFile = join(directory, `${name}.log`);
  const log = await open(logFile, 'a', 0o600);
  // -P: modules are never taken from the directory of the script, where a file may have the name of one.
  const child = spawn(program.python, ['-P', join(import.meta.dirname, 'run.py'), script, ...args], {
    // The pipe tells run.py that we are alive.
    stdio: ['pipe', log.fd, log.fd],
    // A group of its own: Ironic starts processes of its own, which go with it.
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
          ended === undefined ? `is not ready after ${withinMs / 1000} s` : `ended (${ended})`,
        );
        await kill();
        throw error;
      }
    },
  };
}
