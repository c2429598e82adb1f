import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolsError } from '../controlplane/errors.ts';
import { unpackDebian, type DebianOptions } from '../debian/debian.ts';
import { type Ran, tryRun } from '../run.ts';
import { killAtOnce } from './cgroup.ts';
import { mountDisk, type DiskOptions, type NodeDisk } from './disk.ts';
import type { NodeImage } from './image.ts';

export { resolveNodeImage, type NodeImage } from './image.ts';
export { ToolsError } from '../controlplane/errors.ts';

/** Debian's systemd-nspawn, from the user's cache. */
export interface NspawnProgram {
  path: string;
  libraryPath: string;
}

export async function resolveNspawn(options: DebianOptions = {}): Promise<NspawnProgram> {
  const { directory, libraryPath } = await unpackDebian([{ name: 'systemd-container', least: [247, 0, 0] }], options);
  return { path: join(directory, 'usr/bin/systemd-nspawn'), libraryPath };
}

export interface NodeOptions extends DiskOptions {
  name: string;
  image: NodeImage;
  nspawn: NspawnProgram;
  /** Files of this machine by their path on the node, read-only there. */
  files?: Readonly<Record<string, string>>;
  /** Grants everything that containers need. The node could then also change the network, which is this machine's. */
  runsContainers?: boolean;
}

/** A machine with its own systemd. It shares the network of this one: 127.0.0.1 is the same. */
export interface SystemdNode {
  readonly name: string;
  /** The disk, on or off, as a path for this process. */
  readonly root: string;
  readonly disk: NodeDisk;
  /** Boots it; resolves when systemd has started its units, or failed to. */
  boot(): Promise<void>;
  /** Runs a command on the node. A non-zero exit code is a result, not an error. */
  exec(command: readonly string[], options?: { timeoutMs?: number }): Promise<Ran>;
  /** Like exec, but a non-zero exit code is an error with the output. Resolves with its output. */
  sh(script: string): Promise<string>;
  bootId(): Promise<string>;
  /** Resolves with the new boot id once it has rebooted from this one. */
  rebooted(since: string, timeoutMs?: number): Promise<string>;
  /** Kills all its processes as if between two instructions. It stays off. */
  cutPower(): Promise<void>;
  /** Its console output, for failures. */
  console(): string;
  /** Ends it in any state and leaves nothing behind. Idempotent. */
  stop(): Promise<void>;
}

// With --keep-unit nspawn exits with this code when the node requests a reboot, and does not restart it.
const REBOOT = 133;
const BOOT_MS = 30_000;
const RIGHTS_FOR_CONTAINERS = [
  '--capability=all',
  '--drop-capability=CAP_SYS_MODULE',
  '--system-call-filter=@keyring bpf',
];
const CONSOLE_CHARS = 100_000;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Creates the disk without booting, so that files can be added before the first boot. Call stop() at the end. */
export async function makeNode(options: NodeOptions): Promise<SystemdNode> {
  return new NspawnNode(options, await mountDisk(options.name, options.image, options));
}

class NspawnNode implements SystemdNode {
  readonly name: string;
  readonly root: string;
  readonly disk: NodeDisk;
  readonly #options: NodeOptions;
  #nspawn: ChildProcess | undefined;
  #power: Promise<void> = Promise.resolve();
  #console = '';
  #stopped = false;

  constructor(options: NodeOptions, disk: NodeDisk) {
    this.name = options.name;
    this.root = join('/proc', String(disk.holder), 'root', disk.root);
    this.disk = disk;
    this.#options = options;
  }

  async boot(): Promise<void> {
    this.#power = this.#keepOn();
    await this.#untilUp(BOOT_MS);
  }

  async exec(command: readonly string[], { timeoutMs = 30_000 } = {}): Promise<Ran> {
    const init = await this.#init();
    if (init === undefined) return { code: 255, out: '', err: `node ${this.name} is off` };
    const args = ['--all', '--target', String(init), ...command];
    return tryRun('nsenter', args, { env: { PATH, HOME: '/root' }, timeoutMs });
  }

  async sh(script: string): Promise<string> {
    const { code, out, err } = await this.exec(['sh', '-c', script]);
    if (code !== 0) throw new Error(`node ${this.name}: \`${script}\` ended with ${code}: ${err.trim() || out.trim()}`);
    return out;
  }

  async bootId(): Promise<string> {
    const init = await this.#init();
    if (init === undefined) return '';
    const id = await readFile(`/proc/${init}/root/proc/sys/kernel/random/boot_id`, 'utf8').catch(() => '');
    return id.trim();
  }

  async rebooted(since: string, timeoutMs = BOOT_MS): Promise<string> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const id = await this.bootId();
      if (id !== '' && id !== since && (await this.#isUp())) return id;
      if (Date.now() > until) throw this.#failure(`has not rebooted within ${timeoutMs / 1000} s`);
      await delay(50);
    }
  }

  async cutPower(): Promise<void> {
    await killAtOnce(this.disk.cgroups);
    await this.#power;
  }

  console(): string {
    return this.#console;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.disk.discard();
    await this.#power;
  }

  async #keepOn(): Promise<void> {
    let code: unknown = REBOOT;
    while (code === REBOOT && !this.#stopped) {
      const nspawn = this.#start();
      this.#nspawn = nspawn;
      for (const output of [nspawn.stdout, nspawn.stderr]) {
        output?.setEncoding('utf8').on('data', (text: string) => {
          this.#console = (this.#console + text).slice(-CONSOLE_CHARS);
        });
      }
      [code] = await once(nspawn, 'close');
      this.#console += `-- nspawn exited with ${String(code)}\n`;
    }
    this.#nspawn = undefined;
  }

  #start(): ChildProcess {
    const { name, nspawn, files = {}, runsContainers = false } = this.#options;
    const script =
      'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1/cgroup.procs"; shift; n=$((n - 1)); done; exec "$@"';
    const { holder, root, cgroups } = this.disk;
    const enter = ['nsenter', '--mount', '--target', String(holder), 'env', `LD_LIBRARY_PATH=${nspawn.libraryPath}`];
    const args = [
      '--boot',
      `--directory=${root}`,
      `--machine=${name}`,
      '--register=no',
      '--keep-unit',
      '--settings=no',
    ];
    const ours = ['--console=pipe', '--link-journal=no', '--resolv-conf=off', '--timezone=off'];
    const binds = Object.entries(files).map(([onNode, here]) => `--bind-ro=${here}:${onNode}`);
    const rights = runsContainers ? RIGHTS_FOR_CONTAINERS : [];
    const command = [...enter, nspawn.path, ...args, ...ours, ...rights, ...binds];
    return spawn('sh', ['-c', script, 'start', String(cgroups.length), ...cgroups, ...command], {
      env: { PATH },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** The node's init process by its pid on this machine; nspawn has others while it prepares the node. */
  async #init(): Promise<number | undefined> {
    const pid = this.#nspawn?.pid;
    if (pid === undefined) return undefined;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    for (const child of children.trim().split(' ')) {
      const status = await readFile(`/proc/${child}/status`, 'utf8').catch(() => '');
      if (/^NSpid:\s+\d+\s+1$/m.test(status)) return Number(child);
    }
    return undefined;
  }

  async #untilUp(timeoutMs: number): Promise<void> {
    const until = Date.now() + timeoutMs;
    while (!(await this.#isUp())) {
      if (this.#nspawn === undefined) throw this.#failure('did not boot');
      if (Date.now() > until) throw this.#failure(`is not up after ${timeoutMs / 1000} s`);
      await delay(50);
    }
  }

  /** With a failed unit it still counts as up: the caller checks what failed. */
  async #isUp(): Promise<boolean> {
    const { out } = await this.exec(['systemctl', 'is-system-running']);
    return /^(running|degraded)$/.test(out.trim());
  }

  #failure(what: string): ToolsError {
    const said = this.#console.slice(-4000);
    return new ToolsError('SLW_TOOLS_START_FAILED', `node ${this.name} ${what}; its console:\n${said}`);
  }
}
