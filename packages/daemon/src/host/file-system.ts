// The only access to the machine's disk. Paths are those of the machine ('/etc/hosts'), wherever its root is mounted,
// and no path leads out of it, even through symbolic links. A link among the parents of a path is followed only if no
// user can aim it at something of others; otherwise methods reject with SLW_DAEMON_LINK. Every method that changes
// something is a single operation, so that tests can count operations, make each one fail, and drop what was not synced.
// Functions of several operations follow the contract.
import { posix } from 'node:path';

export interface Owners {
  readonly uid: number;
  readonly gid: number;
}

export type FileInfo =
  | (Owners & {
      readonly kind: 'file';
      /** The permission bits and those above them: 0o7777. */
      readonly mode: number;
      readonly size: number;
      /** Names with the same inode are the same file. */
      readonly inode: number;
      /** Increases with every change of contents, mode or owner that the file system records. */
      readonly changedMs: number;
    })
  | (Owners & { readonly kind: 'directory'; readonly mode: number })
  | (Owners & { readonly kind: 'link'; readonly target: string })
  /** A device, a socket or a pipe. */
  | { readonly kind: 'other' };

/** The space of a whole file system. */
export interface Space {
  /** Without the blocks reserved for root. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export interface NewFile extends Owners {
  readonly bytes: Uint8Array;
  readonly mode: number;
  /**
   * The path that it will replace by `rename`. On a host with SELinux, it is created with the label of the file there.
   */
  readonly replaces?: string;
}

/** Rejects with a DaemonError if a path is not allowed, otherwise with the error of the operating system. */
export interface FileSystem {
  /**
   * Does not follow a symbolic link at the path itself, unless the path ends in “/” and the link leads to a directory.
   * Null: nothing is there, or the directory does not exist.
   */
  lookAt(path: string): Promise<FileInfo | null>;
  /**
   * Does not follow a link at the path itself. Rejects if the file is larger than the limit, or if its inode is not the
   * expected one.
   */
  read(path: string, limit: number, expectedInode?: number): Promise<Uint8Array>;
  /** Sorted names in a directory; none if it does not exist. Follows a link to a directory. */
  list(path: string): Promise<string[]>;
  /** The file system of a directory, or of its nearest existing parent. */
  space(path: string): Promise<Space>;

  /**
   * Rejects if the path exists. Mode and owners are set before the first byte is written. Not on the disk until synced.
   */
  createFile(path: string, file: NewFile): Promise<void>;
  /** Writes in place within the file's current size, so it needs no space. Not on the disk until synced. */
  overwrite(path: string, offset: number, bytes: Uint8Array): Promise<void>;
  /** Flushes contents, mode and owners of a file. Its name is flushed with its directory. */
  syncFile(path: string): Promise<void>;
  /** Flushes the names that were added to and removed from this directory. Follows a link to it. */
  syncDirectory(path: string): Promise<void>;
  makeDirectory(path: string, directory: Owners & { readonly mode: number }): Promise<void>;
  makeLink(path: string, link: Owners & { readonly target: string }): Promise<void>;
  /** Creates a hard link to a file, or to a symbolic link itself. Rejects with EXDEV on another file system. */
  makeHardLink(path: string, existing: string): Promise<void>;
  /** Atomic. Replaces what is at `to`. If both names refer to the same file, both stay, as POSIX requires. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a link. */
  remove(path: string): Promise<void>;
  /** The directory must be empty. */
  removeDirectory(path: string): Promise<void>;
  /** Rejects for an entry of root in a directory that a user can change, who may have moved it there. */
  setMode(path: string, mode: number): Promise<void>;
  /** Rejects if the owners would change in a directory that a user can change. */
  setOwners(path: string, owners: Owners): Promise<void>;
}

const MAX_LINKS = 8;

/** The path after following links at its last name. Undefined: they lead nowhere, or in a loop. */
export async function followLinks(files: FileSystem, path: string): Promise<string | undefined> {
  let at = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const found = await files.lookAt(at);
    if (found?.kind !== 'link') return found === null ? undefined : at;
    at = posix.resolve(posix.dirname(at), found.target);
  }
  return undefined;
}

/**
 * A text file of the machine; links are followed. Undefined: it does not exist. Rejects if it is longer than the limit.
 */
export async function readText(files: FileSystem, path: string, limit: number): Promise<string | undefined> {
  const at = await followLinks(files, path);
  if (at === undefined) return undefined;
  const found = await files.lookAt(at);
  if (found?.kind !== 'file') return undefined;
  return Buffer.from(await files.read(at, limit)).toString('utf8');
}

/** Creates missing parents too. Each directory is on the disk before anything is created in it. */
export async function makeDirectories(files: FileSystem, path: string, owners: Owners): Promise<void> {
  if (path === '/' || (await files.lookAt(path)) !== null) return;
  const parent = posix.dirname(path);
  await makeDirectories(files, parent, owners);
  await files.makeDirectory(path, { ...owners, mode: 0o755 });
  await files.syncDirectory(parent);
}

/** Removes everything in the directory, but not the directory. Links are removed, not followed. */
export async function emptyDirectory(files: FileSystem, directory: string): Promise<void> {
  for (const name of await files.list(directory)) {
    const path = posix.join(directory, name);
    if ((await files.lookAt(path))?.kind !== 'directory') await files.remove(path);
    else {
      await emptyDirectory(files, path);
      await files.removeDirectory(path);
    }
  }
}

/**
 * After a crash, either the old or the new file is there, complete. Removes the temporary file of an earlier attempt.
 */
export async function replaceFile(
  files: FileSystem,
  path: string,
  file: NewFile,
  options: { readonly sync: boolean } = { sync: true },
): Promise<void> {
  const beside = toTemporaryPath(path);
  await removeUnfinished(files, path);
  try {
    await files.createFile(beside, { ...file, replaces: path });
    if (options.sync) await files.syncFile(beside);
    await files.rename(beside, path);
  } catch (error) {
    // It may contain a secret, and nothing else would remove it. If this fails too, the next call reports it.
    await files.remove(beside).catch(() => {});
    throw error;
  }
  if (options.sync) await files.syncDirectory(posix.dirname(path));
}

/** For callers with nothing to replace: the temporary file of an earlier attempt may contain a secret. */
export async function removeUnfinished(files: FileSystem, path: string): Promise<void> {
  const beside = toTemporaryPath(path);
  if ((await files.lookAt(beside)) !== null) await files.remove(beside);
}

function toTemporaryPath(path: string): string {
  return posix.join(posix.dirname(path), `.slipway-next-${posix.basename(path)}`);
}

/**
 * The user of this process, which is root on a machine. Other users cannot give files away, so they own everything in a
 * simulation.
 */
export function ownOwners(): Owners {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/** For example ENOSPC. Undefined: not an error of the operating system. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('errno' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
