// A machine whose config has a file in the home of a user who replaces its directory by a link to a directory of root.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { planUpdate } from '@slipway/fleet';
import { expect } from 'vitest';
import { bringTo, sampleConfig, sampleFile, sampleMachine } from '../../drift/testing/sample-machine.ts';
import { heal } from '../../drift/heal.ts';
import type { Drift } from '../../drift/drift.ts';
import { verifyMachine } from '../../drift/verify-machine.ts';
import type { FileSystem } from '../../host/file-system.ts';
import { type HostileUser, JOB, makeHostileUser } from '../../host/testing/hostile-user.ts';
import { type StoredConfig, writeCurrentConfig } from '../../stored-config.ts';
import { createUpdater, type UpdateResult } from '../updater.ts';

/** Two files of root around the one in the home, so that a rollback has something to do. */
const homeConfig = (name: string, text: string): StoredConfig =>
  sampleConfig(`rendered-worker-${name}`, {
    files: ['/etc/first.conf', JOB, '/usr/local/last.conf'].map((path) => sampleFile(path, text)),
  });

const OLD = homeConfig('old', 'old\n');
const NEW = homeConfig('new', 'new\n');

export interface SwappedHome {
  readonly user: HostileUser;
  readonly at: (path: string) => string;
  verify(): Promise<Drift[]>;
  /** Returns what could not be reverted. Without `drifts`, the machine is checked first. */
  heal(drifts?: readonly Drift[]): Promise<string[]>;
  update(): Promise<UpdateResult>;
  /** Finishes an interrupted update, and reverts a successful one. */
  returnToOld(): Promise<void>;
}

/** The machine is at the old config. */
export async function makeSwappedHome(
  wrap: (files: FileSystem) => FileSystem = (files) => files,
): Promise<SwappedHome> {
  const { host, root, at } = await sampleMachine({ wrap });
  const user = makeHostileUser(root);
  await bringTo(host, OLD);
  const verify = (config: StoredConfig) => verifyMachine(host, config);
  const updater = createUpdater({ host, programVersion: 'test', verify });
  return {
    user,
    at,
    verify: () => verify(OLD),
    heal: async (drifts) => (await heal(host, OLD, drifts ?? (await verify(OLD)))).map(({ message }) => message),
    async update() {
      const policy = { files: [{ path: '/', actions: [{ type: 'None' as const }] }] };
      return updater.apply({ from: OLD, to: NEW, plan: await planUpdate({ current: OLD, desired: NEW, policy }) });
    },
    async returnToOld() {
      await updater.recover();
      await heal(host, OLD, await verify(OLD));
      await writeCurrentConfig(host.files, OLD);
    },
  };
}

/** Heals and updates while a process of the user swaps, at least so often. */
export async function runAgainstSwaps(least: { readonly swaps: number; readonly rounds: number }) {
  const home = await makeSwappedHome();
  const before = home.user.readVictim();
  const swapping = home.user.startSwapping();
  /** How often a check for drift has found the link. */
  let reported = 0;
  try {
    for (let round = 0; round < least.rounds || swapping.swaps() < least.swaps; round += 1) {
      reported += (await home.verify()).filter(({ message }) => message.includes('user 1000 can change')).length;
      await home.heal();
      await home.update();
      await home.returnToOld();
      expect(home.user.readVictim()).toEqual(before);
      // Events of the other process are received between the rounds.
      await nextTurn();
    }
  } finally {
    await swapping.stop();
  }
  // The user has stopped: the machine is repaired, and the update succeeds.
  await home.returnToOld();
  await home.heal();
  expect(await home.verify()).toEqual([]);
  expect(await home.update()).toMatchObject({ outcome: 'new' });
  return { reported, victim: { before, after: home.user.readVictim() } };
}
