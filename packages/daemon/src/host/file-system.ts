// The one way to the machine's disk. Paths are those of the machine ('/etc/hosts'), wherever its root is mounted, and no
// path leads out of it, symbolic links included. Every method that changes something is one operation, so that a test can
// count them, make each fail, and drop what was not synced. What takes several operations comes after the contract.
import { posix } from 'node:path';

export interface Owners {
  readonly uid: number;
  readonly gid: number;
}

export type FileInfo =
  | (Owners & {
      readonly kind: 'file';
      /** Of the permission bits and those above them: 0o7777. */
      readonly mode: number;
      readonly size: number;
      /** Two names with the same one are the same file. */
      readonly inode: number;
      /** Grows with every change of contents, mode or owner, as far as the file system tells. */
      readonly changedMs: number;
    })
  | (Owners & { readonly kind: 'directory'; readonly mode: number })
  | (Owners & { readonly kind: 'link'; readonly target: string })
  /** A device, a socket, a pipe. */
  | { readonly kind: 'other' };

/** Of a whole file system. */
export interface Space {
  /** Without what is set aside for root. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export interface NewFile extends Owners {
  readonly bytes: Uint8Array;
  readonly mode: number;
  /** The path whose place it will take by `rename`: where the host has SELinux, it is made with the label of what is there. */
  readonly replaces?: string;
}

/** Rejects with a DaemonError where a path is none that may be used, else with the error of the operating system. */
export interface FileSystem {
  /** What is at the path itself, a symbolic link included; null: nothing, or no such directory. */
  lookAt(path: string): Promise<FileInfo | null>;
  /** Does not follow a link at the path itself. Rejects if there are more bytes than that. */
  read(path: string, limit: number): Promise<Uint8Array>;
  /** Names in a directory, sorted; none where there is no such directory. A link that leads to one is followed. */
  list(path: string): Promise<string[]>;
  /** Of the file system that a directory is on, or would be: where there is none yet, that of the nearest one above. */
  space(path: string): Promise<Space>;

  /** Only where nothing is yet; mode and owners are right before the first byte is in it. Not on the disk until synced. */
  createFile(path: string, file: NewFile): Promise<void>;
  /** In place, at an offset, within the size that the file has: needs no space. Not on the disk until synced. */
  overwrite(path: string, offset: number, bytes: Uint8Array): Promise<void>;
  /** Contents, mode and owners of a file are on the disk. Its name is when the directory was synced. */
  syncFile(path: string): Promise<void>;
  /** Names that came to and went from this directory are on the disk. A link that leads to it is followed. */
  syncDirectory(path: string): Promise<void>;
  makeDirectory(path: string, directory: Owners & { readonly mode: number }): Promise<void>;
  makeLink(path: string, link: Owners & { readonly target: string }): Promise<void>;
  /** A second name for a file, or for a link itself. Rejects with EXDEV where that is not on the same file system. */
  makeHardLink(path: string, existing: string): Promise<void>;
  /** Atomic, and in place of what is at `to`. Two names of the same file both stay, as POSIX has it. */
  rename(from: string, to: string): Promise<void>;
  /** A file or a link. */
  remove(path: string): Promise<void>;
  /** An empty one. */
  removeDirectory(path: string): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
  setOwners(path: string, owners: Owners): Promise<void>;
}

const MAX_LINKS = 8;

/** The path that a file has once the links at its own name are followed; undefined: they lead nowhere, or in a circle. */
export async function followLinks(files: FileSystem, path: string): Promise<string | undefined> {
  let at = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const found = await files.lookAt(at);
    if (found?.kind !== 'link') return found === null ? undefined : at;
    at = posix.resolve(posix.dirname(at), found.target);
  }
  return undefined;
}

/** A text file of the machine, links followed; undefined: there is none. Rejects if it is longer than the limit. */
export async function readText(files: FileSystem, path: string, limit: number): Promise<string | undefined> {
  const at = await followLinks(files, path);
  if (at === undefined) return undefined;
  const found = await files.lookAt(at);
  if (found?.kind !== 'file') return undefined;
  return Buffer.from(await files.read(at, limit)).toString('utf8');
}

/** With all that are missing above it; each is on the disk before anything comes into it. */
export async function makeDirectories(files: FileSystem, path: string, owners: Owners): Promise<void> {
  if (path === '/' || (await files.lookAt(path)) !== null) return;
  const parent = posix.dirname(path);
  await makeDirectories(files, parent, owners);
  await files.makeDirectory(path, { ...owners, mode: 0o755 });
  await files.syncDirectory(parent);
}

/** All that is in it; the directory itself stays. Links are removed, not followed. */
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

/** After it a crash leaves the old file or the new one, whole. A file that an earlier try left beside it is removed. */
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
    // It may hold a secret, and nobody would come for it. A disk that refuses this too says so at the next call.
    await files.remove(beside).catch(() => {});
    throw error;
  }
  if (options.sync) await files.syncDirectory(posix.dirname(path));
}

/** For who finds that nothing is to be replaced after all: what an earlier try left beside it may hold a secret. */
export async function removeUnfinished(files: FileSystem, path: string): Promise<void> {
  const beside = toTemporaryPath(path);
  if ((await files.lookAt(beside)) !== null) await files.remove(beside);
}

function toTemporaryPath(path: string): string {
  return posix.join(posix.dirname(path), `.slipway-next-${posix.basename(path)}`);
}

/** Who runs this process: root on a machine. Who is not root can give files to nobody else, so all of a simulation is theirs. */
export function ownOwners(): Owners {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/** Such as ENOSPC; undefined: not an error of the operating system. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('errno' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
