// The program itself: what it is called, how it ends, and how it reaches a cluster. The daemon on nodes is made of this too, so
// nothing here loads more than it needs.
import type { Transport, TransportOptions } from '@slipway/kube';
import { type Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { failureText } from './errors.ts';

export const { version } = packageJson;

/** Says in one line what went wrong, and ends with 1. */
export async function runProgram(program: Command): Promise<void> {
  prepare(program);
  // `slipway --help | head`: whoever reads may stop reading.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    // Commander has already said what it had to say, --help and --version included.
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      console.error(failureText(error, process.env.SLIPWAY_DEBUG === '1'));
      process.exitCode = 1;
    }
  }
}

function prepare(command: Command): void {
  command.exitOverride().configureOutput({ outputError: writeUsageError });
  for (const each of command.commands) prepare(each);
}

/** Mistakes in the call read like every other error: one line, a code, the way out. */
function writeUsageError(text: string, write: (text: string) => void): void {
  const [line = '', hint = ''] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n');
  write(`slipway: ${[line, hint].filter(Boolean).join(' ')} [SLW_CLI_USAGE]\n`);
}

/** Which cluster, as `withClusterOptions` reads it. */
export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
}

export async function connect(options: ClusterOptions, more: TransportOptions = {}): Promise<Transport> {
  // Only who asks a cluster pays for loading what talks to it.
  const { createTransport, findAccess } = await import('@slipway/kube');
  return createTransport(await findAccess(options), { userAgent: `slipway/${version}`, ...more });
}

/** Where a cluster is and by which CA it is known: what a new machine needs to join it, credentials apart. */
export async function whereIs(options: ClusterOptions): Promise<{ server: string; ca: string | undefined }> {
  const { findAccess } = await import('@slipway/kube');
  const { server, ca } = await findAccess(options);
  return { server, ca };
}

/**
 * Aborted at the first Ctrl-C or SIGTERM; its reason is the signal's name. A second one ends the process at once:
 * whoever presses it twice means it. (npm passes a Ctrl-C on to us although the terminal has sent it already, hence
 * the moment of grace.)
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let first = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (!stop.signal.aborted) {
      first = performance.now();
      stop.abort(signal);
    } else if (performance.now() - first > 1000) process.exit(130);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return stop.signal;
}
