import { readFile } from 'node:fs/promises';
import { printableLine } from '@slipway/base/text';
import { DETAILS_IDENTIFIER, formatDetails } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import { createRealAccounts } from './accounts.ts';
import type { ContainerRuntime, RuntimeDriver, RuntimeOptions } from './container-runtime.ts';
import { crioDriver } from './cri/cri-o.ts';
import { createDisk } from './disk.ts';
import type { FileSystem } from './file-system.ts';
import type { Details, Host } from './host.ts';
import { openOS, type OSOptions } from './os/open-os.ts';
import { createRealSystemd, type RealSystemdOptions } from './real-systemd.ts';
import { createRunner, type Run, summarize } from './run-command.ts';

const SHORT_MS = 60_000;
const REBOOT_UNIT = 'slipway-reboot';
/** From the kernel, wherever the machine's root is mounted. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

export interface RealHostOptions {
  /** '/' on the machine itself, or the mount point of its root in a container. */
  readonly root: string;
  /** Replaces the access to that directory, for example to trace it. */
  readonly files?: FileSystem;
  /** Replaces the execution of programs, for tests. */
  readonly run?: Run;
  readonly os?: OSOptions;
  readonly settle?: NonNullable<RealSystemdOptions['settle']>;
  /** A container runtime in a non-standard place. */
  readonly containers?: Partial<Pick<RuntimeOptions, 'socket' | 'reload'>>;
}

export async function createRealHost(options: RealHostOptions): Promise<Host> {
  const { root, files = createDisk({ root }), run = createRunner({ root }), settle } = options;
  const details = createJournalDetails(run);
  const { kind, os } = await openOS({ files, run: keepingFailures(run, details), ...options.os });
  const finalizes = (await files.lookAt('/run/ostree-booted')) !== null;
  const systemd = createRealSystemd({ files, run, details, ...(settle && { settle }) });
  return {
    kind,
    files,
    os,
    systemd,
    accounts: createRealAccounts(files, run),
    containers: await openRuntime({
      root,
      files,
      reload: (unit) => systemd.reload(unit),
      restart: (unit) => systemd.restart(unit),
      ...options.containers,
    }),
    details,
    bootId: async () => (await readFile(BOOT_ID, 'utf8')).trim(),
    reboot: (why) => reboot(run, why, finalizes),
  };
}

// Details of problems: in the journal of the machine, under an identifier of their own.

const DETAILS_MS = 10_000;

/** systemd-cat inherits the unit of the daemon, so `journalctl -u` and the kubelet's log query find the lines. */
function createJournalDetails(run: Run): Details {
  return {
    async keep(title, text) {
      const args = [`--identifier=${DETAILS_IDENTIFIER}`, '--priority=notice'];
      const input = formatDetails(title, text);
      await run({ program: 'systemd-cat', args, input, timeoutMs: DETAILS_MS }).catch(() => undefined);
    },
  };
}

/** Keeps what a program prints when it fails. The error has one line of it. */
function keepingFailures(run: Run, details: Details): Run {
  return async (command) => {
    const result = await run(command);
    if (result.status !== 0 && result.status !== null && result.stderr.trim() !== '') {
      const title = `${command.program} ${command.args[0] ?? ''} failed with status ${result.status}:`;
      await details.keep(title, result.stderr);
    }
    return result;
  };
}

/** The first one that the machine has is used. If it has none, calls fail with the name of the first. */
const RUNTIMES: readonly [RuntimeDriver, ...RuntimeDriver[]] = [crioDriver];

async function openRuntime(options: RuntimeOptions): Promise<ContainerRuntime> {
  for (const driver of RUNTIMES) if (await driver.isOn(options.files)) return driver.open(options);
  return RUNTIMES[0].open(options);
}

/** Uses a named unit, so that a second request finds it. The unit outlives this process, which the shutdown ends. */
async function reboot(run: Run, why: string, finalizes: boolean): Promise<void> {
  // Staged changes are written to the boot loader when this service stops, so it must be running.
  const finalization = ['Requires', 'After'].flatMap((key) => ['-p', `${key}=ostree-finalize-staged.service`]);
  const description = `Slipway: ${printableLine(why, 200)}`;
  const asked = await run({
    program: 'systemd-run',
    args: [
      '--collect',
      `--unit=${REBOOT_UNIT}`,
      `--description=${description}`,
      ...(finalizes ? finalization : []),
      'systemctl',
      'reboot',
    ],
    timeoutMs: SHORT_MS,
  });
  if (asked.status === 0 || /already (loaded|exists)|was already/i.test(asked.stderr)) return;
  const plain =
    asked.status === null ? await run({ program: 'systemctl', args: ['reboot'], timeoutMs: SHORT_MS }) : asked;
  if (plain.status === 0) return;
  throw new DaemonError(
    'SLW_DAEMON_HOST',
    `The machine does not reboot: ${summarize(plain.stderr) || 'systemd gave no reason'}. Reboot it manually. The update ` +
      'then continues automatically.',
  );
}
