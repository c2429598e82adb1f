// The end of an update: removes backups or staged files, then the journal.
import { posix } from 'node:path';
import { type FileSystem, systemErrorCode } from '../host/file-system.ts';
import { STATE_DIRECTORY, UPDATE_DIRECTORY } from '../state-file.ts';
import type { Journal } from './journal.ts';
import {
  getSiblingBackupPath,
  BACKUP_DIRECTORY,
  readKind,
  type Move,
  syncDirectories,
  getTemporaryPath,
  unlessUserInterferes,
} from './moves.ts';

/** A journal under this name no longer counts, so a single rename ends an update. */
const RETIRED = `${STATE_DIRECTORY}/update-over`;

/** The machine is at the old config: nothing was changed yet, or everything was rolled back. */
export async function cleanUpOld(files: FileSystem, journal: Journal): Promise<void> {
  const touched = new Set<string>();
  for (const move of [...journal.moves, journal.commit]) {
    for (const path of listLeftovers(move)) await discard(files, path, touched);
  }
  for (const path of journal.madeOriginals) await discard(files, path, touched);
  for (const directory of journal.madeDirectories.toReversed()) await discard(files, directory, touched);
  await syncDirectories(files, touched);
  await retire(files);
}

/** The machine is at the new config. Everything staged is in place. */
export async function cleanUpNew(files: FileSystem, journal: Journal): Promise<void> {
  const touched = new Set<string>();
  const kept = new Set(await files.list(BACKUP_DIRECTORY));
  for (const move of [...journal.moves, journal.commit]) {
    if (move.held === 'nothing' || kept.has(String(move.number))) continue;
    await discard(files, getSiblingBackupPath(move), touched);
    await restoreIfInUse(files, move, touched);
  }
  for (const path of journal.endedOriginals) await discard(files, path, touched);
  await syncDirectories(files, touched);
  await retire(files);
}

/** For a journal whose directory exists while nothing else was written. */
export async function retire(files: FileSystem): Promise<void> {
  if ((await files.lookAt(UPDATE_DIRECTORY)) === null) return;
  await sweep(files);
  await files.rename(UPDATE_DIRECTORY, RETIRED);
  await files.syncDirectory(STATE_DIRECTORY);
  await sweep(files);
}

/** Removes what a crash left of a finished update. */
export async function sweep(files: FileSystem): Promise<void> {
  if ((await files.lookAt(RETIRED)) !== null) await removeTree(files, RETIRED);
}

function listLeftovers(move: Move): string[] {
  return move.kind === 'put'
    ? [getTemporaryPath(move), move.stagedAt, getSiblingBackupPath(move)]
    : [getSiblingBackupPath(move)];
}

/** Removes a file, a link, or a tree of empty directories. A path that is missing or out of reach is fine. */
async function discard(files: FileSystem, path: string, touched: Set<string>): Promise<void> {
  await unlessUserInterferes(files, posix.dirname(path), async () => {
    const kind = await readKind(files, path);
    if (kind === undefined) return;
    if (kind === 'directory') await removeEmpty(files, path);
    else await files.remove(path);
    touched.add(posix.dirname(path));
  });
}

async function removeEmpty(files: FileSystem, directory: string): Promise<void> {
  for (const name of await files.list(directory)) {
    const path = posix.join(directory, name);
    if ((await readKind(files, path)) === 'directory') await removeEmpty(files, path);
  }
  try {
    await files.removeDirectory(directory);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOTEMPTY') throw error;
  }
}

/** A removed directory is restored if another process wrote into it at the same moment. */
async function restoreIfInUse(files: FileSystem, move: Move, touched: Set<string>): Promise<void> {
  if (move.held !== 'directory') return;
  await unlessUserInterferes(files, posix.dirname(move.path), async () => {
    if ((await readKind(files, getSiblingBackupPath(move))) === undefined) return;
    if ((await readKind(files, move.path)) !== undefined) return;
    await files.rename(getSiblingBackupPath(move), move.path);
    touched.add(posix.dirname(move.path));
  });
}

/** Nearly all entries are files, so removing first and checking later halves the number of calls. */
async function removeTree(files: FileSystem, directory: string): Promise<void> {
  for (const name of await files.list(directory)) {
    const path = posix.join(directory, name);
    try {
      await files.remove(path);
    } catch (error) {
      if (!IS_DIRECTORY.has(systemErrorCode(error))) throw error;
      await removeTree(files, path);
    }
  }
  await files.removeDirectory(directory);
}

/** Linux returns the first, POSIX specifies the second. */
const IS_DIRECTORY: ReadonlySet<string | undefined> = new Set(['EISDIR', 'EPERM']);
