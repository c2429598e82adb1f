import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IgnitionClient } from '@slipway/tools/ignition-client';
import { makeEmptyRoot } from './empty-root.ts';

/** In the order in which a machine runs them. Partitions and mounts are of no use to a directory. */
const stages = ['fetch-offline', 'fetch', 'kargs', 'files'] as const;
type Stage = (typeof stages)[number];

export interface BootOptions {
  client: IgnitionClient;
  /** What the machine was started with: its user data. */
  pointer: object;
  /** A directory of this boot alone; what was there is removed. */
  directory: string;
  /** The disk of a machine that exists; left out: an empty root below the directory. */
  disk?: Disk;
  /** For each stage. The real client retries some failures for ever. */
  timeoutMs?: number;
}

export interface Disk {
  root: string;
  /** The command that runs another where the root can be seen. */
  enter: readonly string[];
}

export interface Boot {
  ok: boolean;
  /** Where it ended; undefined when all stages have run. */
  failedIn: Stage | undefined;
  /** Whether the stage ended because its time was over. */
  timedOut: boolean;
  /** The machine's disk. */
  root: string;
  /** What was to be done to the kernel's command line: `--should-exist`, `nosmt`, … */
  kernelArguments: string[];
  logs: Partial<Record<Stage, string>>;
  /** What the client calls critical: why it failed. */
  critical: string[];
  ms: number;
}

/** For boots and what belongs to them. Ignition writes a user's keys as that user, who has to get through to them. */
export async function makeBootDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-first-boot-'));
  await chmod(directory, 0o711);
  return directory;
}

/** The real client, stage by stage. */
export async function firstBoot(options: BootOptions): Promise<Boot> {
  const { client, timeoutMs = 30_000 } = options;
  const machine = await prepare(options);
  const boot: Boot = {
    ok: false,
    failedIn: undefined,
    timedOut: false,
    root: machine.root,
    kernelArguments: [],
    logs: {},
    critical: [],
    ms: 0,
  };
  const started = performance.now();
  for (const stage of stages) {
    // As the real units have it: no network is waited for where the first stage had all it needs.
    if (stage === 'fetch' && !existsSync(machine.needsNetwork)) continue;
    const { code, log, timedOut } = await runStage(stage, client, machine, timeoutMs);
    boot.logs[stage] = log;
    boot.critical.push(...log.split('\n').filter((line) => line.startsWith('CRITICAL')));
    boot.timedOut = timedOut;
    if (code === 0) continue;
    boot.failedIn = stage;
    break;
  }
  boot.ms = performance.now() - started;
  boot.ok = boot.failedIn === undefined;
  boot.kernelArguments = await readLines(machine.kernelArguments);
  return boot;
}

interface Machine extends Disk {
  run: string;
  needsNetwork: string;
  kernelArguments: string;
  env: NodeJS.ProcessEnv;
}

async function prepare({ directory, client, pointer, disk }: BootOptions): Promise<Machine> {
  await rm(directory, { recursive: true, force: true });
  const { root, enter } = disk ?? { root: join(directory, 'root'), enter: [] };
  const programs = join(directory, 'programs');
  const run = join(directory, 'run');
  await mkdir(programs, { recursive: true });
  // The pointer has a token in it, the log a whole config.
  await mkdir(run, { mode: 0o700 });
  if (disk === undefined) await makeEmptyRoot(root);
  const pointerFile = join(run, 'pointer.json');
  await writeFile(pointerFile, JSON.stringify(pointer));
  const kernelArguments = join(run, 'kernel-arguments');
  const { systemctl } = client;
  const scripts = {
    // Stand-ins: there is no boot loader and no SELinux policy in a directory. Both only note what they were told.
    'ignition-kargs-helper': `printf '%s\\n' "$@" >>'${kernelArguments}'`,
    setfiles: `cat >'${join(run, 'relabelled')}'`,
    systemctl: `LD_LIBRARY_PATH='${systemctl.libraryPath}' exec '${systemctl.path}' "$@"`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const env = {
    PATH: `${programs}:/usr/sbin:/usr/bin:/sbin:/bin`,
    IGNITION_CONFIG_FILE: pointerFile,
    // Configs that the OS image itself would bring: none.
    IGNITION_SYSTEM_CONFIG_DIR: join(run, 'system-config'),
    ...(client.libraryPath === '' ? {} : { LD_LIBRARY_PATH: client.libraryPath }),
  };
  return { root, enter, run, needsNetwork: join(run, 'needs-network'), kernelArguments, env };
}

async function runStage(stage: Stage, client: IgnitionClient, machine: Machine, timeoutMs: number) {
  const [program, ...args] = [
    ...machine.enter,
    client.path,
    '--platform=file',
    `--root=${machine.root}`,
    `--config-cache=${join(machine.run, 'ignition.json')}`,
    `--neednet=${machine.needsNetwork}`,
    `--state-file=${join(machine.run, 'state')}`,
    '--log-to-stdout',
    `--stage=${stage}`,
  ];
  // A group of its own, so that nothing it started outlives it.
  const child = spawn(program, args, { env: machine.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  let timedOut = false;
  const clock = setTimeout(() => {
    timedOut = true;
    killGroup(child.pid);
  }, timeoutMs);
  const [code] = await once(child, 'exit').finally(() => clearTimeout(clock));
  killGroup(child.pid);
  if (!child.stdout.readableEnded) await once(child, 'close');
  return { code: code as number | null, log, timedOut };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group is gone already.
  }
}

async function readLines(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}
