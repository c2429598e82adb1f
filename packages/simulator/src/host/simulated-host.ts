// The only simulated thing of Slipway: a machine that is a directory, with a boot id, a set of units and an OS image. All that
// it keeps goes through the one way to the disk, so a test that cuts that off cuts off the machine.
import { randomUUID } from 'node:crypto';
import {
  type Accounts,
  createDisk,
  emptyDirectory,
  type FileSystem,
  type Host,
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
import { readState, writeState } from './machine-state.ts';
import { createSimulatedOS } from './simulated-os.ts';
import { createSimulatedRuntime } from './simulated-runtime.ts';
import { createSimulatedSystemd } from './simulated-systemd.ts';

const MOST_BYTES = 4 * 1024 * 1024;

export interface SimulatedHostOptions {
  readonly root: string;
  /** Another way to that directory, such as one that fails. */
  readonly files?: FileSystem;
  /** The machine is down and up again; who runs the daemon starts it anew. */
  readonly onReboot?: () => void;
}

/** Of a machine that makeSimulatedMachine has made. */
export function createSimulatedHost(options: SimulatedHostOptions): Host {
  const files = options.files ?? createDisk({ root: options.root });
  const owners = ownOwners();
  const systemd = createSimulatedSystemd(files, owners);
  return {
    kind: 'simulated',
    files,
    systemd,
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

/** What was staged is booted into only after an orderly shutdown: a power cut loses it. */
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

function simulatedAccounts(files: FileSystem, owners: Owners): Accounts {
  const accounts = readAccounts(files);
  // Without root's rights nothing can be given to anybody else, so there everybody is who runs the simulation.
  const seen = (numbers: Owners): Owners => (owners.uid === 0 ? numbers : owners);
  return {
    passwordHash: accounts.passwordHash,
    owners: async (user, group) => seen(await accounts.owners(user, group)),

    async home(user) {
      const home = await accounts.home(user);
      return home && { ...home, ...seen(home) };
    },

    async setPasswordHash(user, hash) {
      const shadow = (await readText(files, SHADOW, MOST_BYTES)) ?? '';
      const changed = withPasswordHash(shadow, user, hash);
      if (changed === undefined) throw noSuchUser(user);
      if (changed === shadow) return removeUnfinished(files, SHADOW);
      await replaceFile(files, SHADOW, { ...owners, bytes: Buffer.from(changed), mode: 0o600 });
    },
  };
}
