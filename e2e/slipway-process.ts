import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const main = resolve(import.meta.dirname, '../packages/slipway/src/main.ts');

export interface SlipwayProcess {
  child: ChildProcess;
  /** What it has written so far. */
  out(): string;
  err(): string;
  /** Resolves when the output matches; rejects when the process ends first. */
  saw(pattern: RegExp): Promise<void>;
  exit: Promise<number | null>;
}

/** Runs the command as a user does: a process of its own, its real output, its exit code. */
export function slipway(...args: string[]): SlipwayProcess {
  return startProgram(main, args);
}

/** The same with another file of JavaScript, such as the one that is shipped to machines. */
export function startProgram(file: string, args: readonly string[]): SlipwayProcess {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
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
        const look = (): void => {
          if (pattern.test(out) || pattern.test(err)) done();
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        child.on('close', () => reject(new Error(`slipway ended before ${pattern} came: ${err}`)));
        look();
      }),
  };
}

export function runSlipway(...args: string[]): Promise<Ended> {
  return endOf(slipway(...args));
}

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export async function endOf(running: SlipwayProcess): Promise<Ended> {
  const code = await running.exit;
  return { code, out: running.out(), err: running.err() };
}
