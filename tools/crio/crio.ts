import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolsError } from '../controlplane/errors.ts';
import { mountDisk, type NodeDisk } from '../nspawn/disk.ts';
import type { NodeImage } from '../nspawn/image.ts';
import { isListening, run, RunError, type Service, startService } from '../run.ts';
import type { CrioPrograms } from './build.ts';
import { PROGRAMS, type CrioConfiguration } from './configuration.ts';
import { prepareMachine } from './machine.ts';

/** The parts of a CRI-O. Plain data. */
export interface CrioParts {
  programs: CrioPrograms;
  image: NodeImage;
}

export interface CrioOptions extends CrioParts, CrioConfiguration {
  /** For the name of its directory; `crio` by default. */
  name?: string;
  /** Stores images in memory of this size. By default they are on this machine's disk. */
  storeBytes?: number;
  /** Variables for the proxy and the like. */
  env?: Readonly<Record<string, string>>;
}

/** CRI-O on a machine's disk without a systemd. It shares the network of this machine: 127.0.0.1 is the same. */
export interface RunningCrio {
  /** The machine's root, as a path for this process. */
  readonly root: string;
  readonly socket: string;
  /** Of CRI-O; 0 while it is off. */
  pid(): number;
  /** Makes it reload its configuration: resolves when the signal is sent, a moment before new pins take effect. */
  reload(): Promise<void>;
  /** Returns the output; a non-zero exit code is an error with the output. */
  crictl(args: readonly string[]): Promise<string>;
  /** CRI-O's log so far. */
  log(): string;
  /** SIGKILL, like a crash; the images stay. */
  kill(): Promise<void>;
  /** Restarts it with the same images; resolves when it responds. */
  start(): Promise<void>;
  /** Stops it and removes everything. Idempotent. */
  stop(): Promise<void>;
}

const READY_MS = 30_000;
const LOG_CHARS = 1_000_000;

/** Resolves when it responds. Call stop() at the end. */
export async function startCrio(options: CrioOptions): Promise<RunningCrio> {
  const { name = 'crio', image, storeBytes, programs } = options;
  const disk = await mountDisk(name, image, { containers: storeBytes === undefined ? {} : { bytes: storeBytes } });
  const machine = new CrioMachine(disk, programs, options.env ?? {});
  try {
    await prepareMachine(machine.root, options);
    await disk.run(['sh', '-c', MOUNT, 'mount', disk.root, PROGRAMS, programs.crio, programs.pinns]);
    await machine.start();
    return machine;
  } catch (error) {
    await machine.stop();
    throw error;
  }
}

const MOUNT = `set -e
root=$1 programs=$2; shift 2
for part in proc sys dev; do mount --rbind "/$part" "$root/$part"; done
for path; do
  touch "$root$programs/$(basename "$path")"
  mount --bind -o ro "$path" "$root$programs/$(basename "$path")"
done
`;

/** Joins the cgroups, which end with the disk, before it executes the program. */
const ENTER = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1/cgroup.procs"; shift; n=$((n - 1)); done; exec "$@"';

class CrioMachine implements RunningCrio {
  readonly root: string;
  readonly socket: string;
  readonly #disk: NodeDisk;
  readonly #programs: CrioPrograms;
  readonly #env: Readonly<Record<string, string>>;
  #service: Service | undefined;
  /** The log of earlier starts. */
  #earlier = '';

  constructor(disk: NodeDisk, programs: CrioPrograms, env: Readonly<Record<string, string>>) {
    this.root = join('/proc', String(disk.holder), 'root', disk.root);
    this.socket = join(this.root, 'run/crio/crio.sock');
    this.#disk = disk;
    this.#programs = programs;
    this.#env = env;
  }

  pid(): number {
    return this.#isOn() ? (this.#service?.pid ?? 0) : 0;
  }

  #isOn(): boolean {
    return this.#service !== undefined && this.#service.ended() === undefined;
  }

  async start(): Promise<void> {
    if (this.#isOn()) return;
    // A killed CRI-O leaves its socket behind.
    await rm(this.socket, { force: true });
    const { holder, root, cgroups } = this.#disk;
    const enter = ['nsenter', '--mount', '--target', String(holder), 'chroot', root, join(PROGRAMS, 'crio')];
    this.#earlier = this.log();
    const service = startService('sh', ['-c', ENTER, 'start', String(cgroups.length), ...cgroups, ...enter], {
      name: 'CRI-O',
      env: { PATH: `${PROGRAMS}:/usr/sbin:/usr/bin:/sbin:/bin`, HOME: '/root', ...this.#env },
      detached: true,
    });
    this.#service = service;
    try {
      await service.waitUntil(() => isListening(this.socket), READY_MS);
    } catch (error) {
      throw error instanceof RunError ? new ToolsError('SLW_TOOLS_START_FAILED', error.message) : error;
    }
  }

  async reload(): Promise<void> {
    this.#service?.signal('SIGHUP');
  }

  async crictl(args: readonly string[]): Promise<string> {
    const endpoint = `unix://${this.socket}`;
    const all = ['--runtime-endpoint', endpoint, '--image-endpoint', endpoint, '--timeout', '600s', ...args];
    return run(this.#programs.crictl, all);
  }

  log(): string {
    return (this.#earlier + (this.#service?.log() ?? '')).slice(-LOG_CHARS);
  }

  async kill(): Promise<void> {
    await this.#service?.stop('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.#disk.discard();
  }
}
