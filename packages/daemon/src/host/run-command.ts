// The only way to run a program of the machine: no shell, limited time and output, messages in English whatever the
// locale.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { maskSecrets } from '@slipway/base/masking';
import { printableLine, truncateStart } from '@slipway/base/text';
import { DaemonError } from '../errors.ts';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** For secrets that must not appear in the process list. */
  readonly input?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Lines of stdout and stderr as they arrive. */
  readonly onLine?: (line: string) => void;
}

export interface CommandResult {
  /** Null: the machine has no such program. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Rejects if the program was stopped: it was too slow, printed too much, or was aborted. */
export type Run = (command: Command) => Promise<CommandResult>;

const MAX_OUTPUT_CHARS = 8 * 1024 * 1024;
/** rpm-ostree cancels its transaction on SIGINT. If killed, it would leave the transaction running. */
const GRACE_MS = 10_000;
/** The variables for proxies. Programs see nothing else of the daemon's environment. */
const PASSED_ON = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface RunnerOptions {
  readonly root: string;
  /** The search path for programs. */
  readonly path?: string;
  /** How long a stopped program may take to clean up. */
  readonly graceMs?: number;
}

export function createRunner(options: RunnerOptions): Run {
  const env: NodeJS.ProcessEnv = { PATH: options.path ?? PATH, LC_ALL: 'C', HOME: '/root' };
  for (const name of PASSED_ON) if (process.env[name] !== undefined) env[name] = process.env[name];
  // In what it takes for a chroot, systemctl does nothing and reports success.
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
  const onAbort = () => end('it was cancelled');
  command.signal?.addEventListener('abort', onAbort, { once: true });

  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text.slice(0, MAX_OUTPUT_CHARS - output[stream].length);
      if (output[stream].length >= MAX_OUTPUT_CHARS) end(`it printed more than ${MAX_OUTPUT_CHARS} bytes`);
    });
    const { onLine } = command;
    if (onLine !== undefined && child[stream]) createInterface({ input: child[stream] }).on('line', onLine);
  }
  // A program that exits without reading its input closes the pipe. Its exit status is what counts.
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
    // It has exited meanwhile.
  }
}

function notEnded(command: Command, why: string, stderr: string): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_HOST',
    `${command.program} ${command.args[0] ?? ''} was stopped because ${why}. Its output: ${summarize(stderr) || 'none'}`,
  );
}

/** Otherwise every program would appear to be missing. */
function mustEnter({ status, stderr }: CommandResult, root: string): void {
  if (root === '/' || status !== 125 || !stderr.startsWith('chroot: cannot change root directory')) return;
  throw new DaemonError(
    'SLW_DAEMON_HOST',
    `Cannot run programs of the machine: expected its root directory at ${root}, and permission to enter it. ${summarize(stderr)}`,
  );
}

function isMissing({ status, stderr }: CommandResult, program: string): boolean {
  return status === 127 && stderr.includes('chroot: failed to run command') && stderr.includes(program);
}

const MAX_SUMMARY_CHARS = 300;

/** One line for the cluster, without secrets: the end of the text, where the reason is. */
export const summarize = (text: string, maxChars = MAX_SUMMARY_CHARS): string =>
  truncateStart(printableLine(maskSecrets(text)), maxChars);
