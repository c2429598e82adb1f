// The only simulated part of Slipway: a machine that is a directory, with a boot ID, units and an OS image. All its
// state goes through the same file system interface, so a test that interrupts that interrupts the machine.
import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import {
  type Accounts,
  createDisk,
  type Details,
  emptyDirectory,
  type FileSystem,
  type Host,
  makeDirectories,
  noSuchUser,
  type Owners,
  ownOwners,
  readAccounts,
  readText,
  removeUnfinished,
  replaceFile,
  SHADOW,
  withPasswordHash,
} from '@slipway/daemon/host';
import { formatDetails } from '@slipway/fleet';
import { createSimulatedRuntime } from './container-runtime.ts';
import { createSimulatedOS, createState, hasState, readState, writeState } from './os.ts';
import { createSimulatedSystemd } from './systemd.ts';

export interface SimulatedHostOptions {
  readonly root: string;
  /** Replaces the access to that directory, for example with one that fails. */
  readonly files?: FileSystem;
  /** The machine has rebooted: the owner of the daemon must restart it. */
  readonly onReboot?: () => void;
}

/** Expects a machine that makeSimulatedMachine has created. */
export function createSimulatedHost(options: SimulatedHostOptions): Host {
  const files = options.files ?? createDisk({ root: options.root });
  const owners = ownOwners();
  const details = createSimulatedDetails(files, owners);
  const systemd = createSimulatedSystemd(files, owners, details);
  return {
    kind: 'simulated',
    files,
    systemd,
    details,
    os: createSimulatedOS(files, owners),
    accounts: simulatedAccounts(files, owners),
    containers: createSimulatedRuntime({ files, owners, reload: () => systemd.reload('crio.service') }),
    bootId: async () => (await readState(files)).bootId,
    async reboot() {
      await bootSimulatedMachine(files, 'shut down in order');
      options.onReboot?.();
    },
  };
}

/** In place of the journal of a machine. Lost at the next boot. */
export const SIMULATED_DETAILS = '/run/slipway-simulated/details';
const MAX_DETAILS_BYTES = 256 * 1024;

function createSimulatedDetails(files: FileSystem, owners: Owners): Details {
  return {
    async keep(title, text) {
      try {
        const before = (await readText(files, SIMULATED_DETAILS, MAX_DETAILS_BYTES)) ?? '';
        const bytes = Buffer.from((before + formatDetails(title, text)).slice(-MAX_DETAILS_BYTES / 4));
        await makeDirectories(files, posix.dirname(SIMULATED_DETAILS), owners);
        await replaceFile(files, SIMULATED_DETAILS, { ...owners, bytes, mode: 0o600 }, { sync: false });
      } catch {
        // As on a machine, whose journal may be full.
      }
    },
  };
}

/** A staged deployment is booted only after a clean shutdown: a power cut loses it. */
export async function bootSimulatedMachine(
  files: FileSystem,
  after: 'shut down in order' | 'power cut',
): Promise<void> {
  await emptyDirectory(files, '/run');
  const state = await readState(files);
  const staged = after === 'power cut' ? null : state.staged;
  await writeState(files, ownOwners(), {
    ...state,
    bootId: randomUUID(),
    booted: staged ?? state.booted,
    staged: null,
  });
}

const MAX_SHADOW_BYTES = 4 * 1024 * 1024;

function simulatedAccounts(files: FileSystem, owners: Owners): Accounts {
  const accounts = readAccounts(files);
  // Without root, files cannot change owner, so every owner is the user who runs the simulation.
  const toVisibleOwners = (numbers: Owners): Owners => (owners.uid === 0 ? numbers : owners);
  return {
    passwordHash: accounts.passwordHash,
    owners: async (user, group) => toVisibleOwners(await accounts.owners(user, group)),

    async home(user) {
      const home = await accounts.home(user);
      return home && { ...home, ...toVisibleOwners(home) };
    },

    async setPasswordHash(user, hash) {
      const shadow = (await readText(files, SHADOW, MAX_SHADOW_BYTES)) ?? '';
      const changed = withPasswordHash(shadow, user, hash);
      if (changed === undefined) throw noSuchUser(user);
      if (changed === shadow) return removeUnfinished(files, SHADOW);
      await replaceFile(files, SHADOW, { ...owners, bytes: Buffer.from(changed), mode: 0o600 });
    },
  };
}

// A fresh machine: what an OS image and a first boot leave on a disk, limited to what the daemon reads.

export interface SimulatedMachineOptions {
  readonly osImage?: string;
  readonly kernelArguments?: readonly string[];
  readonly fips?: boolean;
  /** Unit files of the OS in addition to the standard ones: name → text. */
  readonly units?: Readonly<Record<string, string>>;
  /** Other files of the OS: path → text. */
  readonly files?: Readonly<Record<string, string>>;
}

const DIRECTORIES = [
  '/etc/systemd/system',
  '/run',
  '/usr/lib/systemd/system',
  '/usr/lib/systemd/system-preset',
  '/var/usrlocal/lib',
];

const service = (description: string, wantedBy = 'multi-user.target') =>
  `[Unit]\nDescription=${description}\n\n[Service]\nExecStart=/usr/bin/true\n\n[Install]\nWantedBy=${wantedBy}\n`;

const OS_UNITS: Readonly<Record<string, string>> = {
  'chronyd.service': service('Clock'),
  'coreos-update-ca-trust.service': service('Trusted certificates'),
  'crio.service': service('Containers'),
  'kubelet.service': service('Kubernetes node'),
  'sshd.service': service('Remote login'),
  'multi-user.target': '[Unit]\nDescription=Multi-User System\n',
};

const OS_FILES: Readonly<Record<string, string>> = {
  '/usr/lib/os-release':
    'ID=slipway-simulated\nNAME="Simulated machine"\nPRETTY_NAME="Simulated machine 9.6"\nVERSION_ID=9.6\nVARIANT_ID=coreos\n',
  '/usr/lib/passwd': 'root:x:0:0:root:/root:/bin/bash\nchrony:x:991:987::/var/lib/chrony:/sbin/nologin\n',
  '/usr/lib/group': 'root:x:0:\nwheel:x:10:core\nchrony:x:987:\n',
  '/usr/lib/systemd/system-preset/90-default.preset': 'enable chronyd.service\nenable sshd.service\n',
  '/usr/lib/systemd/system-preset/99-default-disable.preset': 'disable *\n',
  '/etc/passwd': 'core:x:1000:1000:CoreOS Admin:/home/core:/bin/bash\n',
  '/etc/group': 'core:x:1000:\n',
  '/etc/hostname': 'simulated\n',
};

/** Does nothing if the machine already exists. */
export async function makeSimulatedMachine(files: FileSystem, options: SimulatedMachineOptions = {}): Promise<void> {
  if (await hasState(files)) return;
  const owners = ownOwners();
  for (const directory of DIRECTORIES) await makeDirectories(files, directory, owners);
  await makeHome(files, owners);
  for (const [path, target] of [
    ['/home', 'var/home'],
    ['/usr/local', '../var/usrlocal'],
    ['/etc/os-release', '../usr/lib/os-release'],
  ] as const) {
    if ((await files.lookAt(path)) === null) await files.makeLink(path, { ...owners, target });
  }
  const units = Object.entries({ ...OS_UNITS, ...options.units });
  const texts = { ...OS_FILES, ...Object.fromEntries(units.map(([name, text]) => [unitPath(name), text])) };
  for (const [path, text] of Object.entries({ ...texts, ...options.files })) {
    await makeFile(files, owners, path, text, 0o644);
  }
  await makeFile(files, owners, '/etc/shadow', 'root:*:::::::\ncore:*:::::::\n', 0o600);
  // Last: a machine with a state file is complete.
  await writeState(files, owners, createState(options));
}

async function makeHome(files: FileSystem, owners: Owners): Promise<void> {
  await makeDirectories(files, '/var/home', owners);
  if ((await files.lookAt('/var/home/core')) !== null) return;
  const core = owners.uid === 0 ? { uid: 1000, gid: 1000 } : owners;
  await files.makeDirectory('/var/home/core', { ...core, mode: 0o700 });
}

async function makeFile(files: FileSystem, owners: Owners, path: string, text: string, mode: number): Promise<void> {
  if ((await files.lookAt(path)) !== null) return;
  await makeDirectories(files, posix.dirname(path), owners);
  await replaceFile(files, path, { ...owners, bytes: Buffer.from(text), mode }, { sync: false });
}

function unitPath(name: string): string {
  return `/usr/lib/systemd/system/${name}`;
}
