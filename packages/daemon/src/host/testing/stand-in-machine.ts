// A machine for tests of the real adapters: a root directory, and the stand-in for its OS tools.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRunner, type Run } from '../run-command.ts';
import { callStandIn } from './stand-in.ts';
import {
  buildArguments,
  bootStandIn,
  DEFAULT_VERSION,
  readStandIn,
  type StandInFailure,
  type StandInState,
  writeStandIn,
} from './stand-in-state.ts';

const PROGRAM = join(import.meta.dirname, 'os-stand-in.ts');

export interface StandInMachine {
  readonly root: string;
  readonly run: Run;
  state(): StandInState;
  change(change: Partial<StandInState>): void;
  fail(failure: Omit<StandInFailure, 'times'> & { readonly times?: number }): void;
  boot(after?: 'shut down in order' | 'power cut'): void;
  commandLine(): Promise<string>;
}

export interface StandInOptions {
  /** The disk of a machine that exists already. Default: a new directory. */
  readonly root?: string;
  /** The installed programs. */
  readonly programs: readonly ('rpm-ostree' | 'bootc' | 'podman')[];
  /** Default: what the disk has. */
  readonly osRelease?: string;
  readonly image: string;
  readonly kernelArguments?: readonly string[];
  readonly registry: StandInState['registry'];
  readonly isComposefs?: boolean;
  /** Each call as a process, which is slow, or as a function call. */
  readonly called: 'as processes' | 'as functions';
}

export async function makeStandInMachine(directory: string, options: StandInOptions): Promise<StandInMachine> {
  const { root = join(directory, 'root'), programs, image, registry, isComposefs = false } = options;
  const bin = join(directory, 'bin');
  await Promise.all(['etc', 'run', 'usr/lib'].map((name) => mkdir(join(root, name), { recursive: true })));
  await mkdir(bin);
  if (options.osRelease !== undefined) await writeFile(join(root, 'etc/os-release'), options.osRelease);
  if (!isComposefs && programs.length > 0) await writeFile(join(root, 'run/ostree-booted'), '');
  for (const name of programs) {
    const path = join(bin, name);
    // For hundreds of calls of the same program: cached compilation cuts the time to a third.
    const settings = `export NODE_COMPILE_CACHE='${join(directory, 'compiled')}'`;
    const call = `exec '${process.execPath}' '${PROGRAM}' '${directory}' ${name} "$@"`;
    await writeFile(path, `#!/bin/sh\n${settings}\n${call}\n`);
    await chmod(path, 0o755);
  }
  const asProcesses = createRunner({ root: '/', path: `${bin}:/usr/bin:/bin` });
  writeStandIn(directory, {
    root,
    booted: {
      reference: `ostree-unverified-registry:${image}`,
      version: registry[image]?.version ?? DEFAULT_VERSION,
      kernelArguments: options.kernelArguments ?? ['root=UUID=stand-in', 'quiet'],
      sources: {},
      packages: [],
      removals: [],
    },
    staged: null,
    isComposefs,
    registry,
    pulled: [],
    containers: {},
    failures: [],
    calls: [],
  });
  const change = (update: (state: StandInState) => StandInState) =>
    writeStandIn(directory, update(readStandIn(directory)));
  return {
    root,
    run: options.called === 'as processes' ? asProcesses : asFunctions(directory, programs),
    state: () => readStandIn(directory),
    change: (changes) => change((state) => ({ ...state, ...changes })),
    fail: (failure) => change((state) => ({ ...state, failures: [...state.failures, { times: 1, ...failure }] })),
    boot: (after = 'shut down in order') => change((state) => bootStandIn(state, after)),
    commandLine: async () => buildArguments(readStandIn(directory).booted).join(' '),
  };
}

function asFunctions(directory: string, programs: readonly string[]): Run {
  return async ({ program, args, onLine }) => {
    const argv = [program, ...args];
    // Prefixes (nice, ionice) are ignored.
    const at = argv.findIndex((word) => programs.includes(word));
    const name = argv[at];
    if (name === undefined) return { status: null, stdout: '', stderr: '' };
    const result = callStandIn(directory, name, argv.slice(at + 1));
    for (const line of `${result.stdout}${result.stderr}`.split('\n')) onLine?.(line);
    return result;
  };
}
