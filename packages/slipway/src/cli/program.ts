// The program itself: its version, how it exits, and how it connects to a cluster. The daemon on nodes uses this file
// too, so it loads as little as possible.
import { maskSecrets } from '@slipway/base/masking';
import type { ClusterAccess, Transport, TransportOptions } from '@slipway/kube';
import { type Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { failureText } from './errors.ts';

export const { version } = packageJson;

/** Prints a failure in one line and exits with 1. */
export async function runProgram(program: Command): Promise<void> {
  prepare(program);
  // The reader may close the pipe early: `slipway --help | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    // Commander has already printed its message; it also throws after --help and --version.
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

/** Usage errors have the form of every other error: one line with a code and what to do. */
function writeUsageError(text: string, write: (text: string) => void): void {
  const [line = '', hint = ''] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n');
  write(maskSecrets(`slipway: ${[line, hint].filter(Boolean).join(' ')} [SLW_CLI_USAGE]\n`));
}

/** Which cluster; parsed by `withClusterOptions`. */
export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
}

export async function connect(options: ClusterOptions, more: TransportOptions = {}): Promise<Transport> {
  // Loaded late: commands without a cluster do not need the client.
  const { createTransport, findAccess } = await import('@slipway/kube');
  return createTransport(await findAccess(options), { userAgent: `slipway/${version}`, ...more });
}

/** The address of a cluster and its current CA: what a new machine needs to join, except credentials. */
export async function whereIs(options: ClusterOptions): Promise<Pick<ClusterAccess, 'server' | 'ca'>> {
  const { findAccess } = await import('@slipway/kube');
  const { server, ca } = await findAccess(options);
  return { server, ca };
}

/**
 * Aborted at the first Ctrl-C or SIGTERM; its reason is the signal's name. A second one ends the process immediately.
 * (npm forwards a Ctrl-C that the terminal has already sent, so a second signal within a second does not count.)
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
