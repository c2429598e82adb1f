// The one way to run a program of the machine: no shell, a bound on time and output, texts in English whatever the machine speaks.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { truncateStart } from '@slipway/base/text';
import { DaemonError } from '../errors.ts';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** For what must not be seen in the list of processes. */
  readonly input?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Of stdout and stderr, as they come. */
  readonly onLine?: (line: string) => void;
}

export interface CommandResult {
  /** null: there is no such program on the machine. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Rejects where the program did not end by itself: too slow, too much output, aborted. */
export type Run = (command: Command) => Promise<CommandResult>;

const MAX_OUTPUT_CHARS = 8 * 1024 * 1024;
/** rpm-ostree cancels its transaction at SIGINT; killed, it would leave that running. */
const GRACE_MS = 10_000;
/** What proxies, registries and mirrors need to be found; nothing else of our own environment is theirs to see. */
const PASSED_ON = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface RunnerOptions {
  readonly root: string;
  /** Where programs are looked for. */
  readonly path?: string;
  /** How long a program that is to end may take to clean up. */
  readonly graceMs?: number;
}

export function createRunner(options: RunnerOptions): Run {
  const env: NodeJS.ProcessEnv = { PATH: options.path ?? PATH, LC_ALL: 'C', HOME: '/root' };
  for (const name of PASSED_ON) if (process.env[name] !== undefined) env[name] = process.env[name];
  // systemctl does nothing, and says that it went well, where it thinks that it is in a chroot of something else.
  if (options.root !== '/') env['SYSTEMD_IGNORE_CHROOT'] = '1';
  return async (command) => {
    const argv = [command.program, ...command.args];
    const [program = '', ...args] = options.root === '/' ? argv : ['chroot', options.root, ...argv];
    const result = await runToEnd(spawn(program, args, { env, detached: true }), command, options.graceMs ?? GRACE_MS);
    mustEnter(result, options.root);
    return isMissing(result, command.program) ? { ...result, status: null } : result;
  };
}

function runToEnd(child: ChildProcess, command: Command, graceMs: number): Promise<CommandResult> {
  const output = { stdout: '', stderr: '' };
  let whyEnded: string | undefined;
  const end = (why: string) => {
    if (whyEnded !== undefined) return;
    whyEnded = why;
    signalGroup(child, 'SIGINT');
    killer = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  };
  let killer: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => end(`it took longer than ${command.timeoutMs / 1000} s`), command.timeoutMs);
  const onAbort = () => end('it was called off');
  command.signal?.addEventListener('abort', onAbort, { once: true });

  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text.slice(0, MAX_OUTPUT_CHARS - output[stream].length);
      if (output[stream].length >= MAX_OUTPUT_CHARS) end(`it printed more than ${MAX_OUTPUT_CHARS} bytes`);
    });
    const { onLine } = command;
    if (onLine !== undefined && child[stream]) createInterface({ input: child[stream] }).on('line', onLine);
  }
  // A program that ends without reading its input closes the pipe: that is its own affair, and its status tells.
  child.stdin?.on('error', () => undefined).end(command.input ?? '');
  if (command.signal?.aborted === true) onAbort();

  return new Promise<CommandResult>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') resolve({ status: null, ...output });
      else reject(error);
    });
    child.on('close', (status) => {
      if (whyEnded === undefined) resolve({ status: status ?? 1, ...output });
      else reject(notEnded(command, whyEnded, output.stderr));
    });
  }).finally(() => {
    clearTimeout(timer);
    clearTimeout(killer);
    command.signal?.removeEventListener('abort', onAbort);
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

function notEnded(command: Command, why: string, stderr: string): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_HOST',
    `${command.program} ${command.args[0] ?? ''} was ended because ${why}. It had said: ${shorten(stderr, 1000) || 'nothing'}`,
  );
}

/** Else it would look as if none of the programs were there. */
function mustEnter({ status, stderr }: CommandResult, root: string): void {
  if (root === '/' || status !== 125 || !stderr.startsWith('chroot: cannot change root directory')) return;
  throw new DaemonError(
    'SLW_DAEMON_HOST',
    `Programs of the machine cannot be run: expected its root directory at ${root}, and the right to go there. ${shorten(stderr, 300)}`,
  );
}

function isMissing({ status, stderr }: CommandResult, program: string): boolean {
  return status === 127 && stderr.includes('chroot: failed to run command') && stderr.includes(program);
}

/** The end of it, where the reason stands. */
export const shorten = (text: string, maxChars: number): string => truncateStart(text.trim(), maxChars);
