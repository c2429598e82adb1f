// The machine's disk. Calls that stay in memory are synchronous: each takes a hundredth of a millisecond, a tenth of a
// trip through Node's thread pool. Only fsync, which waits for the disk, uses the pool.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { posix } from 'node:path';
import { getSystemErrorMessage, promisify } from 'node:util';
import { DaemonError } from '../errors.ts';
import { type FileSystem, type FileInfo, type NewFile, type Space, systemErrorCode } from './file-system.ts';
import { describeLinkControl, isTrustedUser, type LinkControl } from './link-rule.ts';
import { createMachinePaths, type MachinePaths, O_PATH } from './machine-path.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const PERMISSIONS = 0o777;
const ALL_BITS = 0o7777;
const FIRST_READ = 16 * 1024;

// Concurrent syncs cost a disk little more than one. Node reads this variable when its thread pool is first used.
process.env['UV_THREADPOOL_SIZE'] ??= '16';
const syncToDisk = promisify(fsync);

export function createDisk({ root }: { readonly root: string }): FileSystem {
  const { atPath, atDirectory, atEntry } = createMachinePaths(root);
  const labels = root === '/' && hasSelinux();
  const findLabel = (path: string | undefined) => (labels && path !== undefined ? atPath(path, readLabel) : undefined);
  return {
    lookAt: (path) =>
      withMachineErrors('inspect', path, () =>
        orNothing(null, () => (path.endsWith('/') ? atDirectory : atPath)(path, (place) => readFileInfo(place))),
      ),
    read: (path, limit, inode) =>
      withMachineErrors('read', path, () => atPath(path, (place) => readWhole(place, path, limit, inode))),
    list: (path) =>
      withMachineErrors('list', path, () =>
        orNothing([], () => atDirectory(path, (place) => readdirSync(place).toSorted())),
      ),

    space: (path) => withMachineErrors('get the free space at', path, () => spaceAt(path, atDirectory)),

    createFile: (path, file) =>
      withMachineErrors('create', path, () => {
        const label = findLabel(file.replaces);
        atPath(path, (place) => makeWithLabel(label, () => create(place, file)));
      }),
    overwrite: (path, offset, bytes) =>
      withMachineErrors('write', path, () =>
        atPath(path, (place) => withHandle(place, O_WRONLY, (handle) => writeAt(handle, path, offset, bytes))),
      ),
    syncFile: (path) => withMachineErrors('sync', path, () => sync(atPath(path, (place) => openSync(place, READ)))),
    syncDirectory: (path) =>
      withMachineErrors('sync', path, () =>
        sync(atDirectory(path, (place) => openSync(place, O_RDONLY | O_DIRECTORY))),
      ),
    makeDirectory: (path, { mode, uid, gid }) =>
      withMachineErrors('create the directory', path, () =>
        atPath(path, (place) => {
          // A directory of this user has its mode from the start, because a crash may come before the next call. Others
          // start private.
          const isOwn = uid === process.geteuid?.() && gid === process.getegid?.();
          mkdirSync(place, mode & (isOwn ? ALL_BITS : 0o700));
          withHandle(place, O_RDONLY | O_DIRECTORY, (handle) => {
            // The owner of the parent can move another directory here, which must not be given away with its contents.
            if (readdirSync(`/proc/self/fd/${handle}/.`).length > 0) throw wasReplaced(path, 'created');
            fchownSync(handle, uid, gid);
            fchmodSync(handle, mode & ALL_BITS);
          });
        }),
      ),
    makeLink: (path, { target, uid, gid }) =>
      withMachineErrors('create the link', path, () =>
        atPath(path, (place) => {
          symlinkSync(target, place);
          withHandle(place, O_PATH, (handle) => {
            if (!fstatSync(handle).isSymbolicLink()) throw wasReplaced(path, 'created');
            chownSync(`/proc/self/fd/${handle}`, uid, gid);
          });
        }),
      ),
    makeHardLink: (path, existing) =>
      withMachineErrors(`link ${existing} to`, path, () =>
        atPath(existing, (from) => atPath(path, (to) => linkSync(from, to))),
      ),
    rename: (from, to) =>
      withMachineErrors(`rename ${from} to`, to, () =>
        atPath(from, (old) => atPath(to, (place) => renameSync(old, place))),
      ),
    remove: (path) => withMachineErrors('remove', path, () => atPath(path, unlinkSync)),
    removeDirectory: (path) =>
      withMachineErrors('remove the directory', path, () => atPath(path, (place) => rmdirSync(place))),
    setMode: (path, mode) =>
      withMachineErrors('set the mode of', path, () =>
        // Through a handle that cannot be a link's: chmod itself would follow one.
        atEntry(path, (place, users) =>
          withHandle(place, O_PATH, (handle) => {
            if (users.length > 0 && isTrustedUser(fstatSync(handle).uid)) throw mayBeMoved(path, users);
            chmodSync(`/proc/self/fd/${handle}`, mode & ALL_BITS);
          }),
        ),
      ),
    setOwners: (path, { uid, gid }) =>
      withMachineErrors('set the owner of', path, () =>
        atEntry(path, (place, users) =>
          withHandle(place, O_PATH, (handle) => {
            const found = fstatSync(handle);
            if (found.uid === uid && found.gid === gid) return;
            if (users.length > 0) throw mayBeMoved(path, users);
            chownSync(`/proc/self/fd/${handle}`, uid, gid);
          }),
        ),
      ),
  };
}

/** O_NONBLOCK: opening a pipe must not wait for its other end. */
const READ = O_RDONLY | O_NONBLOCK | O_NOFOLLOW;

async function withMachineErrors<T>(operation: string, path: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw toMachineError(error, operation, path);
  }
}

/** The same error with the machine's path instead of the path of an open handle. */
function toMachineError(error: unknown, operation: string, path: string): unknown {
  if (error instanceof DaemonError || !(error instanceof Error) || !('errno' in error)) return error;
  const { errno } = error;
  const code = systemErrorCode(error);
  if (typeof errno !== 'number' || code === undefined) return error;
  const text = `${code}: ${getSystemErrorMessage(errno)}, ${operation} ${path}`;
  return Object.assign(new Error(text, { cause: error }), { code, errno, path });
}

function orNothing<T>(nothing: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return nothing;
    throw error;
  }
}

function withHandle<T>(place: string, flags: number, act: (handle: number) => T): T {
  const handle = openSync(place, flags | O_NOFOLLOW);
  try {
    return act(handle);
  } finally {
    closeSync(handle);
  }
}

async function sync(handle: number): Promise<void> {
  try {
    await syncToDisk(handle);
  } finally {
    closeSync(handle);
  }
}

function readFileInfo(place: string): FileInfo {
  const stats = lstatSync(place);
  const { uid, gid } = stats;
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(place), uid, gid };
  const mode = stats.mode & ALL_BITS;
  if (stats.isDirectory()) return { kind: 'directory', mode, uid, gid };
  if (!stats.isFile()) return { kind: 'other' };
  return { kind: 'file', mode, uid, gid, size: stats.size, inode: stats.ino, changedMs: stats.ctimeMs };
}

function spaceAt(path: string, atDirectory: MachinePaths['atDirectory']): Space {
  const space = orNothing(undefined, () => atDirectory(path, (place) => statfsSync(place)));
  if (space === undefined) return spaceAt(posix.dirname(path), atDirectory);
  return { freeBytes: space.bavail * space.bsize, sizeBytes: space.blocks * space.bsize };
}

function readWhole(place: string, path: string, limit: number, inode: number | undefined): Uint8Array {
  return withHandle(place, READ, (handle) => {
    const stats = fstatSync(handle);
    if (!stats.isFile())
      throw new DaemonError('SLW_DAEMON_PATH', `${path} is not a regular file: remove it, or choose another path`);
    if (inode !== undefined && stats.ino !== inode) throw wasReplaced(path, 'read');
    // Files in /proc and /sys report a size of zero, so reading continues to the end.
    let bytes = Buffer.alloc(Math.min(stats.size === 0 ? FIRST_READ : stats.size, limit) + 1);
    let length = 0;
    for (;;) {
      const count = readSync(handle, bytes, length, bytes.length - length, null);
      length += count;
      if (length > limit) throw tooLarge(path, limit);
      if (count === 0) return bytes.subarray(0, length);
      if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * length, limit) + 1);
    }
  });
}

function wasReplaced(path: string, during: 'read' | 'created'): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_PATH',
    `${path} was replaced by another process while the daemon ${during} it: stop that process, or choose another path`,
  );
}

/** The user may have moved a file of root there, to get its contents, or an own file, to give it to root. */
function mayBeMoved(path: string, users: LinkControl): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_PATH',
    `the mode and the owner of ${path} are not changed, because it is in a directory that ${describeLinkControl(users)}, and so may be another file that was moved there: set them by hand, or specify the contents of the file in the config`,
  );
}

function tooLarge(path: string, limit: number): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_FILE_SIZE',
    `${path} is larger than the daemon’s limit of ${limit} bytes, which no config needs there: shrink or remove it`,
  );
}

function create(place: string, { bytes, mode, uid, gid }: NewFile): void {
  const handle = openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o600);
  try {
    fchownSync(handle, uid, gid);
    fchmodSync(handle, mode & PERMISSIONS);
    writeAll(handle, bytes, null);
    // Changing owner or contents clears the bits above the permissions.
    if ((mode & ALL_BITS) !== (mode & PERMISSIONS)) fchmodSync(handle, mode & ALL_BITS);
  } catch (error) {
    unlinkSync(place);
    throw error;
  } finally {
    closeSync(handle);
  }
}

function writeAt(handle: number, path: string, offset: number, bytes: Uint8Array): void {
  const { size } = fstatSync(handle);
  if (offset + bytes.length > size)
    throw new RangeError(`${path} has ${size} bytes: ${bytes.length} more at ${offset} are not within it`);
  writeAll(handle, bytes, offset);
}

function writeAll(handle: number, bytes: Uint8Array, offset: number | null): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(handle, bytes, done, bytes.length - done, offset === null ? null : offset + done);
}

// A file that replaces another one is created with its SELinux label. Other files get what the policy specifies for new
// files in that directory, which is right for units, drop-ins and settings.
//
// Not tested on a host with SELinux.

/** Per thread: applies only to files that this thread creates with synchronous calls. */
const LABEL_OF_NEW_FILES = '/proc/thread-self/attr/fscreate';

function hasSelinux(): boolean {
  return existsSync('/sys/fs/selinux/enforce');
}

/** Node cannot read extended attributes. `place` is a path of this process. Undefined: nothing is there. */
function readLabel(place: string): string | undefined {
  const ours = place.replace('/proc/self/', `/proc/${process.pid}/`);
  try {
    const label = execFileSync('stat', ['--printf=%C', '--', ours], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
    return label === '?' || label === '' ? undefined : label;
  } catch {
    return undefined;
  }
}

function makeWithLabel<T>(label: string | undefined, make: () => T): T {
  if (label === undefined) return make();
  writeFileSync(LABEL_OF_NEW_FILES, label);
  try {
    return make();
  } finally {
    // An empty write restores the default of the policy.
    writeFileSync(LABEL_OF_NEW_FILES, '\n');
  }
}
