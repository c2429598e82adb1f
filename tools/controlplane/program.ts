import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rename, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolsError } from './errors.ts';

/** A running program. */
export interface Program {
  name: string;
  pid: number;
  logFile: string;
  /** How it ended, as text; undefined while it runs. */
  ended: string | undefined;
  /** The size of its log when it was ready: what is before is about its start. Undefined: it is not ready. */
  readyAt: number | undefined;
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
    const pid = child.pid ?? 0;
    const program: Program = { name, pid, logFile, ended: undefined, readyAt: undefined, exit: ending() };
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

export async function markReady(program: Program): Promise<void> {
  program.readyAt = (await stat(program.logFile)).size;
}

/** What its log says about its end: the last errors since it was ready or, if it never was, at least its last lines. */
export async function explainEnd({ logFile, readyAt }: Program): Promise<string[]> {
  const text = await readTail(logFile, readyAt ?? 0).catch(() => '');
  const errors = findLogErrors(text);
  return errors.length > 0 || readyAt !== undefined ? errors : splitLog(text).slice(-MAX_LINES).map(shorten);
}

/** The log of a program that ran for weeks does not fit into a string. */
const MAX_TAIL_BYTES = 1024 * 1024;

async function readTail(file: string, from: number): Promise<string> {
  const log = await open(file, 'r');
  try {
    const { size } = await log.stat();
    const start = Math.max(from, size - MAX_TAIL_BYTES);
    const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(Math.max(0, size - start)), position: start });
    const text = buffer.toString('utf8', 0, bytesRead);
    // It may start in the middle of a line.
    return start > from ? text.slice(text.indexOf('\n') + 1) : text;
  } finally {
    await log.close();
  }
}

const MAX_LINES = 3;
const MAX_LINE_CHARS = 200;
/** The formats of kube-apiserver and etcd. Other lines are those of a script, or of Go when it ends the program. */
const HARMLESS = /^[IW]\d{4} |^\{"level":"(?:debug|info|warn)"/;
const LAST_WORDS = /^(?:panic: |fatal error: |F\d{4} |\{"level":"(?:fatal|panic)")/;

/** The lines from a crash on, without its stack, or the last errors. */
export function findLogErrors(text: string): string[] {
  const lines = splitLog(text).filter((line) => !HARMLESS.test(line));
  const crash = lines.findIndex((line) => LAST_WORDS.test(line));
  const shown = crash === -1 ? lines.slice(-MAX_LINES) : lines.slice(crash, crash + MAX_LINES);
  return shown.map(shorten);
}

/** A record may have several lines; the others are indented. */
function splitLog(text: string): string[] {
  return text
    .replaceAll(/\n\s+/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

function shorten(line: string): string {
  return line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line;
}

function signal(program: Program, name: NodeJS.Signals): void {
  // Until its exit is observed, the pid still belongs to the program, possibly as a zombie.
  if (program.ended === undefined) process.kill(program.pid, name);
}

function pick(env: NodeJS.ProcessEnv, names: string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}
