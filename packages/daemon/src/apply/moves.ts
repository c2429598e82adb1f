// One thing that changes on the disk, so that it can be done again and undone without needing space: what comes is made
// ready beside its place, what goes has a second name.
import { posix } from 'node:path';
import { forEachLimit } from '@slipway/base/concurrency';
import { DaemonError } from '../errors.ts';
import { type FileSystem, type FileInfo, systemErrorCode } from '../host/file-system.ts';
import { NO_ORIGINALS, ORIGINALS, UPDATE_DIRECTORY } from '../state-file.ts';

export type Move = Put | Drop;

interface MoveTarget {
  /** Tells names of this move from those of others. */
  readonly number: number;
  readonly path: string;
}

export interface Put extends MoveTarget {
  readonly kind: 'put';
  readonly what: 'entry' | 'directory';
  /** Where it was made ready: beside its place, unless that is in a directory which is itself only made ready. */
  readonly stagedAt: string;
  /** What the machine had there: a file or a link, or a directory in which nothing is left by then. */
  readonly held: 'nothing' | 'entry' | 'directory';
}

/** A directory goes only if nothing is left in it. */
export interface Drop extends MoveTarget {
  readonly kind: 'drop';
  readonly held: 'entry' | 'directory';
}

/** In the directory of the place itself: there a file gets the type that the policy of the host has for new ones. */
export function getTemporaryPath({ path, number }: MoveTarget): string {
  return posix.join(posix.dirname(path), `.slipway-new-${number}`);
}

export const BACKUP_DIRECTORY = `${UPDATE_DIRECTORY}/old`;

/** The second name of what was there. */
export function getBackupPath({ number }: MoveTarget): string {
  return `${BACKUP_DIRECTORY}/${number}`;
}

/** The same, for directories and for what is on another file system than the daemon's own directory. */
export function getSiblingBackupPath({ path, number }: MoveTarget): string {
  return posix.join(posix.dirname(path), `.slipway-old-${number}`);
}

/** Needs no space, as taking it back; and doing either again changes nothing. */
export async function applyMove(files: FileSystem, move: Move): Promise<void> {
  return move.kind === 'put' ? applyPut(files, move) : applyDrop(files, move);
}

export async function revertMove(files: FileSystem, move: Move): Promise<void> {
  return move.kind === 'put' ? revertPut(files, move) : revertDrop(files, move);
}

async function applyPut(files: FileSystem, move: Put): Promise<void> {
  const temporary = getTemporaryPath(move);
  if (
    move.held === 'directory' &&
    (await pathExists(files, temporary)) &&
    (await readKind(files, move.path)) === 'directory'
  ) {
    await files.rename(move.path, getSiblingBackupPath(move));
  }
  try {
    await files.rename(temporary, move.path);
  } catch (error) {
    // It was done before. To look first would cost as much again, for every file of every update.
    if (!isNoDirectory(error)) throw error;
  }
}

async function applyDrop(files: FileSystem, move: Drop): Promise<void> {
  const kind = await readKind(files, move.path);
  if (move.held === 'entry') {
    if (kind === 'file' || kind === 'link') await files.remove(move.path);
    return;
  }
  // Renamed, not removed: to make it again on the way back would need space.
  if (kind === 'directory' && (await files.list(move.path)).length === 0) {
    await moveAside(files, move);
  }
}

/** That nothing is left in it is on the disk first: else a power cut could bring its contents back under the other name. */
async function moveAside(files: FileSystem, move: Move): Promise<void> {
  await files.syncDirectory(move.path);
  await files.rename(move.path, getSiblingBackupPath(move));
}

async function revertPut(files: FileSystem, move: Put): Promise<void> {
  const temporary = getTemporaryPath(move);
  const isOut = !(await pathExists(files, temporary));
  if (isOut && move.held !== 'entry') await clear(files, move, temporary);
  if (move.held === 'nothing') return;
  if (move.held === 'directory') return restore(files, getSiblingBackupPath(move), move.path);
  if (isOut) await restoreBackup(files, move);
}

/** Away with what the move brought. A directory may have got contents since: it is moved, with them. */
async function clear(files: FileSystem, { path, what }: Put, temporary: string): Promise<void> {
  const kind = await readKind(files, path);
  if (what === 'directory') {
    if (kind === 'directory') await files.rename(path, temporary);
  } else if (kind === 'file' || kind === 'link') await files.remove(path);
}

async function revertDrop(files: FileSystem, move: Drop): Promise<void> {
  if (move.held === 'directory') return restore(files, getSiblingBackupPath(move), move.path);
  return restoreBackup(files, move);
}

async function restoreBackup(files: FileSystem, move: Move): Promise<void> {
  await restore(files, getBackupPath(move), move.path);
  await restore(files, getSiblingBackupPath(move), move.path);
}

/** Where both are names of the same file still, both stay. */
async function restore(files: FileSystem, kept: string, path: string): Promise<void> {
  if (await pathExists(files, kept)) await files.rename(kept, path);
}

async function pathExists(files: FileSystem, path: string): Promise<boolean> {
  return (await readKind(files, path)) !== undefined;
}

/** Undefined: nothing. Where a file stands, or again stands, in the place of a directory, there is nothing below it. */
export async function readKind(files: FileSystem, path: string): Promise<FileInfo['kind'] | undefined> {
  try {
    return (await files.lookAt(path))?.kind;
  } catch (error) {
    if (isNoDirectory(error)) return undefined;
    throw error;
  }
}

/** There is no such directory, or something else in its place. */
function isNoDirectory(error: unknown): boolean {
  if (error instanceof DaemonError) return error.code === 'SLW_DAEMON_PATH';
  return systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR';
}

/** As many as Node's pool has threads: host/disk.ts says so. */
export const SYNCS_AT_ONCE = 16;

/** The names that came to and went from these directories are on the disk. */
export async function syncDirectories(files: FileSystem, directories: Iterable<string>): Promise<void> {
  await forEachLimit(new Set(directories), SYNCS_AT_ONCE, async (directory) => {
    try {
      await files.syncDirectory(directory);
    } catch (error) {
      // It went away itself, which its own parent knows.
      if (!isNoDirectory(error)) throw error;
    }
  });
}

/**
 * What the OS had at a path before a config put something there, kept for as long as a config has that path. Files and names
 * are those that users know. `unknown`: it was the first boot that put the config's file there, and nobody took note.
 */
export type Original = { readonly at: string } | 'nothing' | 'unknown';

export function originalPath(path: string): string {
  return `${ORIGINALS}${path}.mcdorig`;
}

/** An empty file: there was nothing. */
export function noOriginalPath(path: string): string {
  return `${NO_ORIGINALS}${path}.mcdnoorig`;
}

export async function findOriginal(files: FileSystem, path: string): Promise<Original> {
  const kept = originalPath(path);
  if (await isKept(files, kept)) return { at: kept };
  if ((await files.lookAt(noOriginalPath(path))) !== null) return 'nothing';
  const ofImage = toImagePath(path);
  return ofImage !== null && (await isKept(files, ofImage)) ? { at: ofImage } : 'unknown';
}

async function isKept(files: FileSystem, path: string): Promise<boolean> {
  const found = await files.lookAt(path);
  return found?.kind === 'file' || found?.kind === 'link';
}

/** Hosts built with ostree keep the image's own /etc, untouched, below /usr. */
function toImagePath(path: string): string | null {
  return path.startsWith('/etc/') ? `/usr${path}` : null;
}
