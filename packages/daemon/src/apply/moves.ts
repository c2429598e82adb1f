// One change on the disk that can be repeated and reverted without needing space: new entries are staged next to their
// destination, old ones are kept under a second name.
import { posix } from 'node:path';
import { forEachLimit } from '@slipway/base/concurrency';
import { DaemonError } from '../errors.ts';
import { type FileSystem, type FileInfo, systemErrorCode } from '../host/file-system.ts';
import { isTrustedUser } from '../host/link-rule.ts';
import { NO_ORIGINALS, ORIGINALS, UPDATE_DIRECTORY } from '../state-file.ts';

export type Move = Put | Drop;

interface MoveTarget {
  /** Makes the temporary names of this move unique. */
  readonly number: number;
  readonly path: string;
}

export interface Put extends MoveTarget {
  readonly kind: 'put';
  readonly what: 'entry' | 'directory';
  /** Next to its destination, or in a staged directory if the destination's directory is staged too. */
  readonly stagedAt: string;
  /** What the machine has there: a file or a link, or a directory that is empty by then. */
  readonly held: 'nothing' | 'entry' | 'directory';
}

/** A directory is removed only if it is empty. */
export interface Drop extends MoveTarget {
  readonly kind: 'drop';
  readonly held: 'entry' | 'directory';
}

/** In the destination directory, where the host's SELinux policy gives new files the right type. */
export function getTemporaryPath({ path, number }: MoveTarget): string {
  return posix.join(posix.dirname(path), `.slipway-new-${number}`);
}

export const BACKUP_DIRECTORY = `${UPDATE_DIRECTORY}/old`;

/** The second name of the old entry. */
export function getBackupPath({ number }: MoveTarget): string {
  return `${BACKUP_DIRECTORY}/${number}`;
}

/** The same for directories, and for entries on another file system than the daemon's state directory. */
export function getSiblingBackupPath({ path, number }: MoveTarget): string {
  return posix.join(posix.dirname(path), `.slipway-old-${number}`);
}

/** Applying and reverting need no space and are idempotent. */
export async function applyMove(files: FileSystem, move: Move): Promise<void> {
  return move.kind === 'put' ? applyPut(files, move) : applyDrop(files, move);
}

/**
 * What a user takes away from the daemon is left alone: it must not keep the rest of the machine between two configs, and
 * the next check for drift reports it.
 */
export async function revertMove(files: FileSystem, move: Move): Promise<void> {
  await unlessUserInterferes(files, posix.dirname(move.path), () =>
    move.kind === 'put' ? revertPut(files, move) : revertDrop(files, move),
  );
}

/** Stops without an error if a user of the machine keeps `act` from its work in this directory. */
export async function unlessUserInterferes(
  files: FileSystem,
  directory: string,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (isUnfollowedLink(error)) return;
    if (!isObstacle(error) || !(await canUserChange(files, directory))) throw error;
  }
}

/** Something else than expected is at a path. EACCES: a user can mount a file system that root may not read. */
const OBSTACLES: ReadonlySet<string | undefined> = new Set([
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENOTEMPTY',
  'EEXIST',
  'EPERM',
  'EACCES',
  'EBUSY',
  'EXDEV',
  'ENOTCONN',
]);

const isUnfollowedLink = (error: unknown): boolean => error instanceof DaemonError && error.code === 'SLW_DAEMON_LINK';

function isObstacle(error: unknown): boolean {
  if (error instanceof DaemonError) return error.code === 'SLW_DAEMON_PATH';
  return OBSTACLES.has(systemErrorCode(error));
}

const OTHERS_WRITE = 0o002;

/** Whether a user owns a directory on the way, or it is one for all users, such as /tmp. */
export async function canUserChange(files: FileSystem, directory: string): Promise<boolean> {
  if (directory !== '/' && (await canUserChange(files, posix.dirname(directory)))) return true;
  try {
    const found = await files.lookAt(`${directory}/`);
    return found?.kind === 'directory' && (!isTrustedUser(found.uid) || (found.mode & OTHERS_WRITE) !== 0);
  } catch (error) {
    return isUnfollowedLink(error);
  }
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
    // The move was done before. Checking first would double the calls for every file of every update.
    if (!isNoDirectory(error)) throw error;
  }
}

async function applyDrop(files: FileSystem, move: Drop): Promise<void> {
  const kind = await readKind(files, move.path);
  if (move.held === 'entry') {
    if (kind === 'file' || kind === 'link') await files.remove(move.path);
    return;
  }
  // Renamed, not removed: recreating it in a rollback would need space.
  if (kind === 'directory' && (await files.list(move.path)).length === 0) {
    await moveAside(files, move);
  }
}

/** Syncs the empty directory first. Otherwise a power cut could restore its contents under the new name. */
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

/** Removes what the move created. A directory may have contents by now: it is moved with them. */
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

/** If both names still refer to the same file, the rename changes nothing. */
async function restore(files: FileSystem, kept: string, path: string): Promise<void> {
  if (await pathExists(files, kept)) await files.rename(kept, path);
}

async function pathExists(files: FileSystem, path: string): Promise<boolean> {
  return (await readKind(files, path)) !== undefined;
}

/** Undefined: nothing is there. This includes paths below a file that is in the place of a directory. */
export async function readKind(files: FileSystem, path: string): Promise<FileInfo['kind'] | undefined> {
  try {
    return (await files.lookAt(path))?.kind;
  } catch (error) {
    if (isNoDirectory(error)) return undefined;
    throw error;
  }
}

/** The directory does not exist, or something else is there. */
function isNoDirectory(error: unknown): boolean {
  if (error instanceof DaemonError) return error.code === 'SLW_DAEMON_PATH';
  return systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR';
}

/** The number of threads in Node's pool; see host/disk.ts. */
export const SYNCS_AT_ONCE = 16;

/** Flushes the entries that were added to and removed from these directories. */
export async function syncDirectories(files: FileSystem, directories: Iterable<string>): Promise<void> {
  await forEachLimit(new Set(directories), SYNCS_AT_ONCE, async (directory) => {
    try {
      await unlessUserInterferes(files, directory, () => files.syncDirectory(directory));
    } catch (error) {
      // The directory was removed, which the sync of its parent covers.
      if (!isNoDirectory(error)) throw error;
    }
  });
}

/**
 * What the OS had at a path before a config replaced it, stored while a config has that path. The layout is the one
 * that users know. `unknown`: the file was written at first boot, and the original was not recorded.
 */
export type Original = { readonly at: string } | 'nothing' | 'unknown';

export function originalPath(path: string): string {
  return `${ORIGINALS}${path}.mcdorig`;
}

/** An empty file here means that the OS had nothing. */
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

/** Hosts based on ostree have a pristine copy of the image's /etc below /usr. */
function toImagePath(path: string): string | null {
  return path.startsWith('/etc/') ? `/usr${path}` : null;
}
