// Runs a command: connects and closes, prints the report in the requested format, follows it with --watch, and prints
// expected problems in one line each.
import { type CodedProblem, formatProblem, ProblemList } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { type Io, toJson, write, writeArtifact } from './io.ts';
import type { LiveSource, WatchOptions } from './live.ts';
import { type ClusterOptions, connect, stopSignal } from './program.ts';
import { safeLine, styleFor, type TextStyle } from './terminal.ts';

/** A command that reads a cluster and prints a report. */
export interface ClusterCommand<Snapshot, Report> {
  /** `output: 'json'` prints the report itself; every other format is text. */
  readonly options: ClusterOptions & {
    readonly output: string;
    readonly watch?: boolean;
    readonly showSecrets?: boolean;
  };
  readonly io: Io;
  /** Reads the cluster. Throws if the request is wrong, also before a watch. */
  readonly load: (client: Client) => Promise<Snapshot>;
  readonly report: (snapshot: Snapshot) => Report | Promise<Report>;
  readonly text: (report: Report, style: TextStyle) => string;
  /** For commands with --watch. */
  readonly live?: {
    /** `first` is the result of `load`. */
    readonly watch: (client: Client, options: WatchOptions, first: Snapshot) => LiveSource<Snapshot>;
    /** One line per change since `before`. With null, everything is new. */
    readonly changes: (before: Report | null, after: Report) => string[];
  };
}

export function clusterCommand<Snapshot, Report>(command: ClusterCommand<Snapshot, Report>): Promise<void> {
  const { options, io, load, report, text, live } = command;
  const json = options.output === 'json';
  return withCluster(options, io, async (client) => {
    const first = await load(client);
    if (live === undefined || options.watch !== true) {
      const shown = await report(first);
      // A fleet has megabytes of JSON: it is masked once, by toJson.
      if (json) await writeArtifact(io.stdout, toJson(shown, options));
      else await write(io.stdout, text(shown, styleFor(io.stdout)), options);
      return;
    }
    const { follow, liveReport } = await import('./live.ts');
    const show = liveReport<Report>({ io, json, text, changes: live.changes });
    const signal = stopSignal();
    await follow({
      watch: (onChange) => live.watch(client, { signal, onChange }, first),
      show: async (now, problem) => show(await report(now), problem),
      signal,
    });
  });
}

/** Runs a command against a cluster. */
export const withCluster = (
  options: ClusterOptions,
  io: Io,
  action: (client: Client) => Promise<void>,
): Promise<void> => reportProblems(io, () => useCluster(options, action));

/** The same for one step of a command. */
export async function useCluster<T>(options: ClusterOptions, action: (client: Client) => Promise<T>): Promise<T> {
  const transport = await connect(options);
  try {
    const { createClient } = await import('@slipway/kube');
    return await action(createClient(transport));
  } finally {
    await transport.close();
  }
}

/** More than this is too much to read on a terminal. */
const MAX_SHOWN = 50;

/** Runs a command; the problems it ends with are printed in one line each, with exit code 1. */
export async function reportProblems(io: Io, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof ProblemList)) throw error;
    await write(io.stderr, problemLines(error.problems));
    io.setExitCode(1);
  }
}

/** One line each, in the form of all errors of the command. */
function problemLines(problems: readonly CodedProblem[]): string {
  const shown = problems
    .slice(0, MAX_SHOWN)
    .map(({ code, message }) => `slipway: ${formatProblem({ code, message: safeLine(message) })}\n`);
  const more = problems.length - shown.length;
  return [...shown, ...(more > 0 ? [`slipway: … and ${more} more problems\n`] : [])].join('');
}
