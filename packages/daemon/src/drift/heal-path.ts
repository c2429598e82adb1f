// What is at a path, put back in one step: after a crash it is as it was, or as the config has it.
import { posix } from 'node:path';
import type { DiskEntry } from '@slipway/fleet';
import type { DesiredEntry, Right } from '../desired-machine.ts';
import { type FileSystem, makeDirectories, type Owners, replaceFile } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';

const ROOT = { id: 0 };

export async function healPath({ files, accounts }: Host, entry: DiskEntry): Promise<void> {
  const { path } = entry;
  await makeDirectories(files, posix.dirname(path), await accounts.owners(ROOT, ROOT));
  if (entry.kind === 'hard link') return replaceWith(files, path, (beside) => files.makeHardLink(beside, entry.target));
  const owners = await accounts.owners(entry.user, entry.group);
  switch (entry.kind) {
    case 'file':
      await makeWay(files, path);
      return replaceFile(files, path, { ...owners, bytes: entry.bytes, mode: entry.mode, replaces: path });
    case 'link':
      return replaceWith(files, path, (beside) => files.makeLink(beside, { ...owners, target: entry.target }));
    case 'directory':
      return healDirectory(files, path, { ...owners, mode: entry.mode });
  }
}

/** Mode and owner alone, and of these only what the config names: the rest is left to what is there. */
export async function healRights({ files, accounts }: Host, entry: DesiredEntry): Promise<void> {
  const found = await files.lookAt(entry.path);
  if (found === null || found.kind === 'other' || entry.kind === 'hard link') return;
  const { uid, gid } = await accounts.owners(entry.user, entry.group);
  const leaves = (right: Right) => entry.kind !== 'link' && entry.leaves.has(right);
  await files.setOwners(entry.path, {
    uid: leaves('user') ? found.uid : uid,
    gid: leaves('group') ? found.gid : gid,
  });
  // After the owner, whose change may take bits of the mode away.
  if (entry.kind !== 'link' && !leaves('mode')) await files.setMode(entry.path, entry.mode);
  if (entry.kind === 'file') await files.syncFile(entry.path);
  await files.syncDirectory(entry.kind === 'directory' ? entry.path : posix.dirname(entry.path));
}

export async function removeExtra(files: FileSystem, path: string): Promise<void> {
  await files.remove(path);
  await files.syncDirectory(posix.dirname(path));
}

async function replaceWith(files: FileSystem, path: string, make: (beside: string) => Promise<void>): Promise<void> {
  await makeWay(files, path);
  const beside = posix.join(posix.dirname(path), `.slipway-next-${posix.basename(path)}`);
  if ((await files.lookAt(beside)) !== null) await files.remove(beside);
  await make(beside);
  await files.rename(beside, path);
  await files.syncDirectory(posix.dirname(path));
}

/** An empty directory in place of a file goes; one with something in it is not ours to delete, and this rejects. */
async function makeWay(files: FileSystem, path: string): Promise<void> {
  if ((await files.lookAt(path))?.kind === 'directory') await files.removeDirectory(path);
}

async function healDirectory(files: FileSystem, path: string, directory: Owners & { mode: number }): Promise<void> {
  // Only where nothing is, or what is no directory: one that is there keeps what is in it.
  if ((await files.lookAt(path)) !== null) await files.remove(path);
  await files.makeDirectory(path, directory);
  await files.syncDirectory(posix.dirname(path));
}
