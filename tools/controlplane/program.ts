import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolsError } from './errors.ts';

/** A running program. */
export interface Program {
  name: string;
  pid: number;
  logFile: string;
  /** How it ended, as text; undefined while it runs. */
  ended: string | undefined;
  exit: Promise<void>;
}

export interface Start {
  name: string;
  path: string;
  args: readonly string[];
  logFile: string;
  /** In addition to the few variables that are inherited. */
  env?: Readonly<Record<string, string>>;
}

export async function startProgram({ name, path, args, logFile, env = {} }: Start): Promise<Program> {
  await rename(logFile, `${logFile}.previous`).catch(() => undefined);
  const log = await open(logFile, 'a', 0o600);
  try {
    const child = spawn(path, args, {
      stdio: ['ignore', log.fd, log.fd],
      // A separate process group: Ctrl-C is for the launcher, which then stops its programs in order.
      detached: true,
      // No other environment variables: etcd reads settings from every ETCD_… variable.
      env: { ...pick(process.env, ['PATH', 'HOME', 'TMPDIR']), ...env },
    });
    await once(child, 'spawn').catch((error: Error) => {
      throw new ToolsError('SLW_TOOLS_START_FAILED', `${name} cannot be run: ${error.message}`);
    });
    const program: Program = { name, pid: child.pid ?? 0, logFile, ended: undefined, exit: ending() };
    async function ending() {
      const [code, signal] = await once(child, 'exit');
      program.ended = signal === null ? `exit code ${String(code)}` : `signal ${String(signal)}`;
    }
    return program;
  } finally {
    await log.close();
  }
}

/** SIGTERM, then SIGKILL after the timeout. A program that has already ended is fine. */
export async function endProgram(program: Program, graceMs: number): Promise<void> {
  signal(program, 'SIGTERM');
  const waiting = new AbortController();
  await Promise.race([program.exit, delay(graceMs, undefined, { signal: waiting.signal }).catch(() => undefined)]);
  waiting.abort();
  await killProgram(program);
}

export async function killProgram(program: Program): Promise<void> {
  signal(program, 'SIGKILL');
  await program.exit;
}

/** The end of its log, where a program that died reports why. */
export async function lastLines(program: Program, count = 5): Promise<string> {
  const log = await readFile(program.logFile, 'utf8').catch(() => '');
  return log
    .trimEnd()
    .split('\n')
    .slice(-count)
    .map((line) => `  ${line.slice(0, 400)}`)
    .join('\n');
}

function signal(program: Program, name: NodeJS.Signals): void {
  // Until its exit is observed, the pid still belongs to the program, possibly as a zombie.
  if (program.ended === undefined) process.kill(program.pid, name);
}

function pick(env: NodeJS.ProcessEnv, names: string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}
