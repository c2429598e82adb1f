// Reverts drift. Each item is either unchanged or repaired after a crash, so no journal is needed.
import { posix } from 'node:path';
import { truncate } from '@slipway/base/text';
import { type DiskEntry, type SshKeys, UNIT_DIRECTORY } from '@slipway/fleet';
import { CORE, type DesiredEntry, type DesiredMachine, loadDesiredMachine, type Right } from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import { type FileSystem, makeDirectories, type Owners, replaceFile, systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';
import { type Drift, buildItemKey } from './drift.ts';

export interface HealProblem {
  readonly drift: Drift;
  /** Human-readable. */
  readonly message: string;
  /** The disk refused it. */
  readonly isDiskFailure: boolean;
}

/**
 * Returns what could not be reverted; everything else is on the disk. Nothing is restarted: only the unit files are
 * reloaded.
 */
export async function heal(host: Host, config: StoredConfig, drifts: readonly Drift[]): Promise<HealProblem[]> {
  const desired = await loadDesiredMachine(config);
  const problems: HealProblem[] = [];
  const each = async (some: readonly Drift[], act: (drift: Drift) => Promise<void>) => {
    for (const drift of some) {
      try {
        await act(drift);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const message = `${drift.message}; it could not be reverted: ${truncate(reason, 500)}`;
        problems.push({ drift, message, isDiskFailure: DISK_FAILURES.has(systemErrorCode(error)) });
      }
    }
  };
  const open = drifts.filter(({ canHeal }) => canHeal);
  const paths = inOrder(onePerItem(open.filter(({ name }) => name.startsWith('/'))), desired);
  const units = onePerItem(open.filter(({ kind }) => kind === 'unit'));
  const isRewritten = ({ name }: Drift) => name.startsWith(`${UNIT_DIRECTORY}/`);

  await each(paths, (drift) => healDrift(host, desired, drift, open));
  await each(paths, (drift) => linkAgain(host, desired, drift.name));
  await each(units, (drift) => unmask(host, desired, drift.name));
  await each([...paths.filter(isRewritten), ...units].slice(0, 1), () => host.systemd.daemonReload());
  await each(units, (drift) => enableOrDisable(host, desired, drift.name));
  await each(onePerItem(open.filter(({ name }) => name === CORE)), (drift) => healCore(host, desired, drift));
  return problems;
}

/** They end with the failure, unlike a path that something else occupies. */
const DISK_FAILURES: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

function onePerItem(drifts: readonly Drift[]): Drift[] {
  return [...new Map(drifts.map((drift) => [buildItemKey(drift), drift])).values()];
}

const ORDER: readonly (DesiredEntry['kind'] | undefined)[] = [undefined, 'directory', 'file', 'link', 'hard link'];

/** Removals first, then directories before their contents, and files before their hard links. */
function inOrder(drifts: readonly Drift[], { entries }: DesiredMachine): Drift[] {
  const rank = ({ name }: Drift) => ORDER.indexOf(entries.get(name)?.kind);
  return drifts.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

async function healDrift(
  host: Host,
  { entries }: DesiredMachine,
  { name }: Drift,
  all: readonly Drift[],
): Promise<void> {
  const entry = entries.get(name);
  if (entry === undefined) return removeExtra(host.files, name);
  const kinds = all.filter((drift) => drift.name === name).map(({ kind }) => kind);
  const onlyRights = kinds.every((kind) => kind === 'permission' || kind === 'owner');
  // Contents that belong to the OS are not rewritten; mode and owner are. Files of the config are rewritten: a user may
  // have replaced one since it was read, and would get the config's mode and owner for other contents.
  const isRewritten = entry.kind === 'file' && !entry.keepsExisting;
  return onlyRights && !isRewritten ? healRights(host, entry) : healEntry(host, entry);
}

async function healEntry(host: Host, entry: DesiredEntry): Promise<void> {
  return healPath(host, entry.kind === 'file' ? { ...entry, bytes: await entry.bytes() } : entry);
}

/** The hard links of a replaced file still refer to the old one. */
async function linkAgain(host: Host, { entries }: DesiredMachine, path: string): Promise<void> {
  for (const entry of entries.values()) {
    if (entry.kind === 'hard link' && entry.target === path) await healPath(host, entry);
  }
}

async function unmask({ files }: Host, { units }: DesiredMachine, unit: string): Promise<void> {
  if (!units.some(({ name, unmasked }) => name === unit && unmasked)) return;
  const path = `${UNIT_DIRECTORY}/${unit}`;
  const found = await files.lookAt(path);
  if (found?.kind === 'link' && found.target === '/dev/null') await removeExtra(files, path);
}

async function enableOrDisable({ systemd }: Host, { units }: DesiredMachine, unit: string): Promise<void> {
  const enabled = units.find(({ name }) => name === unit)?.enabled;
  if (enabled === true) await systemd.enable([unit]);
  if (enabled === false) await systemd.disable([unit]);
}

async function healCore(host: Host, { core }: DesiredMachine, { kind }: Drift): Promise<void> {
  if (kind === 'ssh keys' && core.sshKeys !== null) await healSshKeys(host, core.sshKeys);
  if (kind === 'password' && core.passwordHash !== null) await host.accounts.setPasswordHash(CORE, core.passwordHash);
}

const ROOT = { id: 0 };

/** Atomic: after a crash, the path is either unchanged or matches the config. */
export async function healPath({ files, accounts }: Host, entry: DiskEntry): Promise<void> {
  const { path } = entry;
  await makeDirectories(files, posix.dirname(path), await accounts.owners(ROOT, ROOT));
  if (entry.kind === 'hard link') return replaceWith(files, path, (beside) => files.makeHardLink(beside, entry.target));
  const owners = await accounts.owners(entry.user, entry.group);
  switch (entry.kind) {
    case 'file':
      await clearPath(files, path);
      return replaceFile(files, path, { ...owners, bytes: entry.bytes, mode: entry.mode, replaces: path });
    case 'link':
      return replaceWith(files, path, (beside) => files.makeLink(beside, { ...owners, target: entry.target }));
    case 'directory':
      return healDirectory(files, path, { ...owners, mode: entry.mode });
  }
}

/** Sets only the mode and owners that the config names. */
async function healRights({ files, accounts }: Host, entry: DesiredEntry): Promise<void> {
  const found = await files.lookAt(entry.path);
  if (found === null || found.kind === 'other' || entry.kind === 'hard link') return;
  const { uid, gid } = await accounts.owners(entry.user, entry.group);
  const leaves = (right: Right) => entry.kind !== 'link' && entry.leaves.has(right);
  await files.setOwners(entry.path, {
    uid: leaves('user') ? found.uid : uid,
    gid: leaves('group') ? found.gid : gid,
  });
  // After the owner, because a change of owner may clear bits of the mode.
  if (entry.kind !== 'link' && !leaves('mode')) await files.setMode(entry.path, entry.mode);
  if (entry.kind === 'file') await files.syncFile(entry.path);
  await files.syncDirectory(entry.kind === 'directory' ? entry.path : posix.dirname(entry.path));
}

async function removeExtra(files: FileSystem, path: string): Promise<void> {
  await files.remove(path);
  await files.syncDirectory(posix.dirname(path));
}

async function replaceWith(files: FileSystem, path: string, make: (beside: string) => Promise<void>): Promise<void> {
  await clearPath(files, path);
  const beside = posix.join(posix.dirname(path), `.slipway-next-${posix.basename(path)}`);
  if ((await files.lookAt(beside)) !== null) await files.remove(beside);
  await make(beside);
  await files.rename(beside, path);
  await files.syncDirectory(posix.dirname(path));
}

/** Removes an empty directory in the place of a file. Rejects if it has contents, which are user-managed. */
async function clearPath(files: FileSystem, path: string): Promise<void> {
  if ((await files.lookAt(path))?.kind === 'directory') await files.removeDirectory(path);
}

async function healDirectory(files: FileSystem, path: string, directory: Owners & { mode: number }): Promise<void> {
  // Reached only if nothing or another kind of entry is there: an existing directory keeps its contents.
  if ((await files.lookAt(path)) !== null) await files.remove(path);
  await files.makeDirectory(path, directory);
  await files.syncDirectory(posix.dirname(path));
}

/** Writes the file that only configs use, not the one that users edit. */
export async function healSshKeys(host: Host, { paths, mode, bytes }: SshKeys): Promise<void> {
  const { files } = host;
  const home = await host.accounts.home(CORE);
  if (home === undefined) return;
  const owners = { uid: home.uid, gid: home.gid };
  const path = `${home.path}/${paths[0]}`;
  for (const directory of directoriesBetween(home.path, path)) {
    const found = await files.lookAt(directory);
    // A link of the user could lead to a directory that the user may not write to.
    if (found !== null && found.kind !== 'directory') throw noDirectory(directory);
    if (found === null) await files.makeDirectory(directory, { ...owners, mode: 0o700 });
    await files.syncDirectory(posix.dirname(directory));
  }
  await replaceFile(files, path, { ...owners, bytes, mode, replaces: path });
}

/** Top down, without the home directory. */
function directoriesBetween(home: string, path: string): string[] {
  const names = path
    .slice(home.length + 1)
    .split('/')
    .slice(0, -1);
  return names.map((_, index) => [home, ...names.slice(0, index + 1)].join('/'));
}

function noDirectory(path: string): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_PATH',
    `${path}: expected a directory for the ssh keys of ${CORE}, found something else. Remove it, and the daemon writes the keys again`,
  );
}
