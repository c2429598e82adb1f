// The file system on a disk image, with a note of what each call did to which inode. Power cuts are derived from these
// notes. A property test compares it with the real disk.
import { constants } from 'node:os';
import { DaemonError } from '../../errors.ts';
import type { FileSystem, FileInfo, Owners } from '../file-system.ts';
import { ROOT, type DiskImage, type Inode } from './disk-image.ts';

/** One note for each change that a disk may have lost in a power cut. */
export type Note =
  /** Names that appeared or disappeared (null) together: a rename is atomic. */
  | { readonly kind: 'names'; readonly set: readonly NameSet[] }
  /** A new inode, or new contents, mode or owners of an existing one. */
  | { readonly kind: 'inode'; readonly number: number; readonly before: Inode | null; readonly after: Inode }
  | { readonly kind: 'sync'; readonly number: number };

export interface NameSet {
  readonly directory: number;
  readonly name: string;
  readonly inode: number | null;
}

interface PathEntry {
  readonly directory: number;
  readonly name: string;
  readonly inode: number | undefined;
}

interface Walk {
  readonly path: string;
  readonly trail: number[];
  readonly ahead: string[];
  links: number;
}

type File = Extract<Inode, { kind: 'file' }>;
type Directory = Extract<Inode, { kind: 'directory' }>;

const MAX_LINKS = 40;
const ALL_BITS = 0o7777;
/** It never runs full. */
const SPACE = { freeBytes: 50e9, sizeBytes: 100e9 };

export function createMemoryDisk(image: DiskImage, note: (note: Note) => void = () => {}): FileSystem {
  const { inodes } = image;
  let next = Math.max(...inodes.keys()) + 1;
  let clock = 0;

  const getInode = (number: number): Inode => {
    const inode = inodes.get(number);
    if (inode === undefined) throw new Error(`inode ${number} is not on the disk`);
    return inode;
  };
  const getDirectory = (number: number): Directory => {
    const inode = getInode(number);
    if (inode.kind !== 'directory') throw failure('ENOTDIR');
    return inode;
  };
  const put = (number: number, after: Inode): void => {
    note({ kind: 'inode', number, before: inodes.get(number) ?? null, after });
    inodes.set(number, after);
  };
  const name = (...set: NameSet[]): void => {
    if (set.some((each) => each.name === '.')) throw failure('EBUSY');
    note({ kind: 'names', set });
    setNames(image, set);
  };
  const add = (path: string, inode: Inode): void => {
    const { directory, name: last, inode: there } = find(path);
    if (there !== undefined) throw failure('EEXIST');
    const number = next++;
    put(number, inode);
    name({ directory, name: last, inode: number });
  };

  /** Undefined: there is no such directory. */
  function walk(path: string, names: readonly string[]): number | undefined {
    const state: Walk = { path, trail: [ROOT], ahead: names.toReversed(), links: 0 };
    for (let each = state.ahead.pop(); each !== undefined; each = state.ahead.pop()) {
      if (!step(state, each)) return undefined;
    }
    return state.trail.at(-1) ?? ROOT;
  }
  function step(state: Walk, each: string): boolean {
    const { path, trail, ahead } = state;
    if (each === '..') {
      if (trail.length === 1) throw refusal(path);
      trail.pop();
      return true;
    }
    const number = getDirectory(trail.at(-1) ?? ROOT).names.get(each);
    if (number === undefined) return false;
    const inode = getInode(number);
    if (inode.kind === 'file' || (inode.kind === 'link' && ++state.links > MAX_LINKS)) throw refusal(path);
    if (inode.kind === 'directory') trail.push(number);
    else {
      if (inode.target.startsWith('/')) trail.splice(1);
      ahead.push(...split(inode.target).toReversed());
    }
    return true;
  }
  function lookUp(path: string): PathEntry | undefined {
    const names = checked(path);
    const last = names.at(-1);
    if (last === undefined) return { directory: ROOT, name: '.', inode: ROOT };
    if (last === '..') throw refusal(path);
    const directory = walk(path, names.slice(0, -1));
    return directory === undefined
      ? undefined
      : { directory, name: last, inode: getDirectory(directory).names.get(last) };
  }
  function find(path: string): PathEntry {
    const place = lookUp(path);
    if (place === undefined) throw failure('ENOENT');
    return place;
  }
  function existing(path: string): PathEntry & { readonly inode: number } {
    const place = find(path);
    if (place.inode === undefined) throw failure('ENOENT');
    return { ...place, inode: place.inode };
  }
  function fileAt(path: string): { readonly number: number; readonly file: File } {
    const { inode: number } = existing(path);
    const file = getInode(number);
    if (file.kind === 'link') throw failure('ELOOP');
    if (file.kind === 'directory') throw refusal(path);
    return { number, file };
  }
  function rename(from: string, to: string): void {
    const old = existing(from);
    const place = find(to);
    if (old.name === '.' || place.name === '.') throw failure('EBUSY');
    if (old.inode === place.inode) return;
    refuseRename(getInode(old.inode), place.inode === undefined ? undefined : getInode(place.inode));
    if (isInside(image, place.directory, old.inode)) throw failure('EINVAL');
    name({ ...old, inode: null }, { directory: place.directory, name: place.name, inode: old.inode });
  }

  return {
    lookAt: settle((path) => {
      const number = path.endsWith('/') ? walk(path, checked(path)) : lookUp(path)?.inode;
      return number === undefined ? null : toFileInfo(number, getInode(number));
    }),
    read: settle((path: string, limit: number) => {
      const { bytes } = fileAt(path).file;
      if (bytes.length > limit) throw new DaemonError('SLW_DAEMON_FILE_SIZE', `${path} has more than ${limit} bytes`);
      return new Uint8Array(bytes);
    }),
    list: settle((path) => {
      const number = walk(path, checked(path));
      return number === undefined ? [] : [...getDirectory(number).names.keys()].toSorted();
    }),
    space: settle((path) => {
      checked(path);
      return SPACE;
    }),
    createFile: settle((path, { bytes, mode, uid, gid }) =>
      add(path, { kind: 'file', bytes: new Uint8Array(bytes), mode: mode & ALL_BITS, uid, gid, changed: ++clock }),
    ),
    overwrite: settle((path, offset, bytes) => {
      const { number, file } = fileAt(path);
      if (offset + bytes.length > file.bytes.length) throw new RangeError(`not within ${path}`);
      const all = new Uint8Array(file.bytes);
      all.set(bytes, offset);
      put(number, { ...file, bytes: all, changed: ++clock });
    }),
    syncFile: settle((path) => {
      const { inode: number } = existing(path);
      if (getInode(number).kind === 'link') throw failure('ELOOP');
      note({ kind: 'sync', number });
    }),
    syncDirectory: settle((path) => {
      const number = walk(path, checked(path));
      if (number === undefined) throw failure('ENOENT');
      note({ kind: 'sync', number });
    }),
    makeDirectory: settle((path, { mode, uid, gid }) =>
      add(path, { kind: 'directory', mode: mode & ALL_BITS, names: new Map(), uid, gid }),
    ),
    makeLink: settle((path, { target, uid, gid }) => add(path, { kind: 'link', target, uid, gid })),
    makeHardLink: settle((path, from) => {
      const { inode: number } = existing(from);
      const { directory, name: last, inode } = find(path);
      if (inode !== undefined) throw failure('EEXIST');
      if (getInode(number).kind === 'directory') throw failure('EPERM');
      name({ directory, name: last, inode: number });
    }),
    rename: settle(rename),
    remove: settle((path) => {
      const place = existing(path);
      if (getInode(place.inode).kind === 'directory') throw failure('EISDIR');
      name({ ...place, inode: null });
    }),
    removeDirectory: settle((path) => {
      const place = existing(path);
      if (getDirectory(place.inode).names.size > 0) throw failure('ENOTEMPTY');
      name({ ...place, inode: null });
    }),
    setMode: settle((path, mode) => {
      const { inode: number } = existing(path);
      const inode = getInode(number);
      if (inode.kind === 'link') throw failure('EOPNOTSUPP');
      put(number, changed({ ...inode, mode: mode & ALL_BITS }, ++clock));
    }),
    setOwners: settle((path, { uid, gid }) => {
      const { inode: number } = existing(path);
      const inode = getInode(number);
      if (inode.uid === uid && inode.gid === gid) return;
      put(number, changed(withOwners(inode, { uid, gid }), ++clock));
    }),
  };
}

export function setNames({ inodes }: DiskImage, set: readonly NameSet[]): void {
  for (const { directory, name, inode } of set) {
    const there = inodes.get(directory);
    if (there?.kind !== 'directory') throw new Error(`inode ${directory} is no directory`);
    const names = new Map(there.names);
    if (inode === null) names.delete(name);
    else names.set(name, inode);
    inodes.set(directory, { ...there, names });
  }
}

/** Turns exceptions into rejections, as callers expect. */
function settle<A extends unknown[], T>(act: (...args: A) => T): (...args: A) => Promise<T> {
  return (...args) => {
    try {
      return Promise.resolve(act(...args));
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

function changed(inode: Inode, clock: number): Inode {
  return inode.kind === 'file' ? { ...inode, changed: clock } : inode;
}

/** Linux clears the bits that would let a file run as its new owner. */
function withOwners(inode: Inode, owners: Owners): Inode {
  if (inode.kind !== 'file') return { ...inode, ...owners };
  const lost = 0o4000 | ((inode.mode & 0o010) === 0 ? 0 : 0o2000);
  return { ...inode, ...owners, mode: inode.mode & ~lost };
}

function toFileInfo(number: number, inode: Inode): FileInfo {
  const { uid, gid } = inode;
  if (inode.kind === 'link') return { kind: 'link', target: inode.target, uid, gid };
  if (inode.kind === 'directory') return { kind: 'directory', mode: inode.mode, uid, gid };
  return {
    kind: 'file',
    mode: inode.mode,
    size: inode.bytes.length,
    inode: number,
    changedMs: inode.changed,
    uid,
    gid,
  };
}

function refuseRename(moved: Inode, replaced: Inode | undefined): void {
  if (replaced === undefined) return;
  if (moved.kind === 'directory' && replaced.kind !== 'directory') throw failure('ENOTDIR');
  if (moved.kind !== 'directory' && replaced.kind === 'directory') throw failure('EISDIR');
  if (replaced.kind === 'directory' && replaced.names.size > 0) throw failure('ENOTEMPTY');
}

function isInside({ inodes }: DiskImage, number: number, top: number): boolean {
  if (number === top) return true;
  const inode = inodes.get(top);
  return inode?.kind === 'directory' && [...inode.names.values()].some((child) => isInside({ inodes }, number, child));
}

/** The same paths are parsed repeatedly. */
const known = new Map<string, readonly string[]>();

function checked(path: string): readonly string[] {
  const names = known.get(path);
  if (names !== undefined) return names;
  if (!path.startsWith('/') || path.includes('\0')) throw refusal(path);
  known.set(path, split(path));
  return split(path);
}

function split(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function refusal(path: string): DaemonError {
  return new DaemonError('SLW_DAEMON_PATH', `${path} is no path of this machine`);
}

function failure(code: keyof typeof constants.errno): Error {
  return Object.assign(new Error(code), { code, errno: -constants.errno[code] });
}
