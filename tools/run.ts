// Runs programs for tools, tests and benchmarks: to completion, or until they are stopped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

export interface RunOptions {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** SIGTERM is sent after it. */
  readonly timeoutMs?: number | undefined;
  /** Called for each line of its standard error, to show progress. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** A program's output and exit code; 255 if a signal ended it. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A program that cannot be started, or exited with a non-zero code. */
export class RunError extends Error {
  override readonly name = 'RunError';
  /** The program does not exist. */
  readonly isMissing: boolean;
  /** `exit code 1`, `SIGKILL`, `spawn go ENOENT`. */
  readonly end: string;
  /** The end of its output; how it ended if there was none. */
  readonly said: string;

  constructor(command: string, { isMissing = false, end, err }: { isMissing?: boolean; end: string; err: string }) {
    const said = err.trim().slice(-4000) || end;
    super(`${command} failed: ${said}`);
    this.isMissing = isMissing;
    this.end = end;
    this.said = said;
  }
}

// Output is held in memory; its end is the relevant part.
const OUT_CHARS = 64 << 20;
const ERR_CHARS = 1 << 20;

/** Runs it to completion and returns its output. A non-zero exit code is a RunError. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, signal, out, err } = await finish(program, args, options);
  if (code === 0) return out;
  const words = code === null ? String(signal) : `exit code ${code}`;
  // `nice`, `env` and shells report a missing program by exit code.
  throw new RunError([program, ...args.slice(0, 3)].join(' '), { end: words, err, isMissing: code === 127 });
}

/** The same, but returns any exit code. */
export async function tryRun(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { code, out, err } = await finish(program, args, options);
  return { code: code ?? 255, out, err };
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

async function finish(program: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const { cwd, env, timeoutMs: timeout, onLine } = options;
  const child = spawn(program, args, { cwd, env, timeout, stdio: ['ignore', 'pipe', 'pipe'] });
  const out = keepOutput(child.stdout, OUT_CHARS);
  const err = keepOutput(child.stderr, ERR_CHARS);
  if (onLine !== undefined) createInterface(child.stderr).on('line', onLine);
  const [code, signal] = await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    throw new RunError(program, { isMissing: error.code === 'ENOENT', end: error.message, err: '' });
  });
  return { code, signal, out: out(), err: err() };
}

function keepOutput(stream: NodeJS.ReadableStream, chars: number): () => string {
  let kept = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-chars);
  });
  return () => kept;
}

/** A program that serves until it is stopped. */
export interface Service {
  readonly pid: number;
  /** How it ended, as text; undefined while it runs. */
  ended(): string | undefined;
  /** The end of its standard error so far. */
  log(): string;
  signal(name: NodeJS.Signals): void;
  /** Resolves when it has ended. */
  readonly exit: Promise<void>;
  /** Resolves when this is true; rejects if the program ends first or the time is up, with its output. */
  waitUntil(isReady: () => boolean | Promise<boolean>, withinMs: number): Promise<void>;
  /** Sends the signal if it still runs, and resolves when it has ended. Idempotent. */
  stop(name?: NodeJS.Signals): Promise<void>;
}

export interface ServiceOptions extends Omit<RunOptions, 'timeoutMs' | 'onLine'> {
  /** The name in messages. */
  readonly name: string;
  /** A separate process group: signals to this process, such as Ctrl-C, do not reach it. */
  readonly detached?: boolean;
  /** How much of its log is kept; by default a million characters. */
  readonly logChars?: number;
}

const POLL_MS = 20;
const LOG_CHARS = 1_000_000;

/** It may exit before it is ready: see waitUntil. */
export function startService(program: string, args: readonly string[], options: ServiceOptions): Service {
  const { name, cwd, env, detached = false, logChars = LOG_CHARS } = options;
  const child = spawn(program, args, { cwd, env, detached, stdio: ['ignore', 'ignore', 'pipe'] });
  const log = keepOutput(child.stderr, logChars);
  let ended: string | undefined;
  const end = async (): Promise<void> => {
    const [code, by] = await once(child, 'close').catch((error: Error) => [null, error.message]);
    ended = code === null ? String(by) : `exit code ${String(code)}`;
  };
  const exit = end();
  const signal = (which: NodeJS.Signals): void => {
    if (ended === undefined) child.kill(which);
  };
  return {
    pid: child.pid ?? 0,
    ended: () => ended,
    log,
    signal,
    exit,
    async waitUntil(isReady, withinMs) {
      const until = Date.now() + withinMs;
      while (!(await isReady())) {
        if (ended === undefined && Date.now() < until) {
          await delay(POLL_MS);
          continue;
        }
        const words = ended === undefined ? `is not ready after ${withinMs / 1000} s` : `exited (${ended})`;
        throw new RunError(name, { end: words, err: `${words}; its log: ${log().trim().slice(-2000)}` });
      }
    },
    async stop(which = 'SIGTERM') {
      signal(which);
      await exit;
    },
  };
}

/** Whether something listens there: a port of this machine, or the path of a socket. */
export async function isListening(at: number | string): Promise<boolean> {
  const socket = typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
