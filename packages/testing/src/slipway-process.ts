// Runs the programs as users do: a separate process, real output, exit code.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The slipway entry point, built once per run: starting from sources takes twice the processor time. */
    command: string;
  }
}

export interface RunningProcess {
  readonly child: ChildProcess;
  /** Its output so far. */
  out(this: void): string;
  err(this: void): string;
  /** Resolves when the output matches; rejects if the process exits first. */
  saw(this: void, pattern: RegExp): Promise<void>;
  /** Resolves to its exit code. */
  readonly exit: Promise<number | null>;
  /** Terminates it if it still runs, and waits until it has exited. */
  stop(this: void, signal?: NodeJS.Signals): Promise<void>;
}

export interface ProcessResult {
  code: number | null;
  out: string;
  err: string;
}

export const startSlipway = (...args: readonly string[]): RunningProcess => startProgram(inject('command'), args);

export const runSlipway = (...args: readonly string[]): Promise<ProcessResult> => waitForExit(startSlipway(...args));

/** The same with another JavaScript file, such as the one that is shipped to machines. `flags`: of Node. */
export function startProgram(file: string, args: readonly string[], flags: readonly string[] = []): RunningProcess {
  const child = spawn(process.execPath, [...flags, file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const exit = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    out: () => out,
    err: () => err,
    exit,
    saw: (pattern) =>
      new Promise((done, reject) => {
        const check = (): void => {
          if (pattern.test(out) || pattern.test(err)) done();
        };
        child.stdout.on('data', check);
        child.stderr.on('data', check);
        child.on('close', () => reject(new Error(`slipway exited before printing ${pattern}: ${err}`)));
        check();
      }),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await exit;
    },
  };
}

export async function waitForExit(running: RunningProcess): Promise<ProcessResult> {
  const code = await running.exit;
  return { code, out: running.out(), err: running.err() };
}
