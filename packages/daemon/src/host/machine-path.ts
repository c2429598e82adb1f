// Maps a path of the machine to a name in an open directory below the machine's mounted root.
//
// Every directory is opened separately, without following links, through the handle of the previous one
// (/proc/self/fd/N/name: Node has no openat). So no process can replace a directory with a link between check and use.
// Links among the parents are read and followed as on the machine: absolute ones start at its root. Those that a user
// could aim at something of others are refused; link-rule.ts decides.
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { printableLine } from '@slipway/base/text';
import { DaemonError } from '../errors.ts';
import { systemErrorCode } from './file-system.ts';
import { describeLinkControl, findLinkControl, type LinkControl, mayFollowLink } from './link-rule.ts';

/** The limit of the kernel. */
const MAX_LINKS = 40;
const MAX_TARGET_CHARS = 200;
const ROOT = 0;
/**
 * Node has no constant for it; Linux uses this value on every architecture. The handle cannot be read, only traversed.
 */
export const O_PATH = 0o10000000;
const DIRECTORY = O_PATH | constants.O_DIRECTORY;

interface OpenDirectory {
  readonly handle: number;
  /** As the machine sees it, with links resolved. */
  readonly path: string;
}

interface Walk {
  /** The requested path. */
  readonly path: string;
  /** From the root to the current directory. */
  readonly trail: OpenDirectory[];
  /** The remaining names, the next one last. */
  readonly ahead: string[];
  /** The links whose targets are not reached yet, the innermost last. */
  readonly following: FollowedLink[];
  /** The last link that was followed, for messages. */
  link: string;
  links: number;
}

interface FollowedLink {
  /** For messages. */
  readonly link: string;
  readonly control: LinkControl;
  /** Its target is reached when only this many names remain. */
  readonly remaining: number;
}

export interface MachinePaths {
  /** `act` gets a path that is valid while it runs. Only its last name may be a link. */
  readonly atPath: <T>(path: string, act: (place: string) => T) => T;
  /** The same for a directory, which may be a link itself, such as /usr/local. */
  readonly atDirectory: <T>(path: string, act: (place: string) => T) => T;
  /** As `atPath`. `users`: who can change what is at the path, apart from root. */
  readonly atEntry: <T>(path: string, act: (place: string, users: LinkControl) => T) => T;
}

export function createMachinePaths(root: string): MachinePaths {
  const open = createOpenDirectories(root);

  function inDirectory<T>(path: string, names: readonly string[], act: (directory: string) => T): T {
    const key = names.join('/');
    const known = open.find(key);
    if (known !== undefined) return act(toHandlePath(known));
    return walk(path, names, (trail) => {
      const handle = getLastHandle(trail);
      if (open.keep(key, handle)) trail.pop();
      return act(toHandlePath(handle));
    });
  }

  function walk<T>(path: string, names: readonly string[], act: (trail: OpenDirectory[]) => T): T {
    const trail = [{ handle: openSync(root, DIRECTORY), path: '' }];
    try {
      const state: Walk = { path, trail, ahead: names.toReversed(), following: [], link: '', links: 0 };
      for (let name = state.ahead.pop(); name !== undefined; name = state.ahead.pop()) step(state, name);
      return act(trail);
    } finally {
      close(trail, 0);
    }
  }

  return {
    atPath(path, act) {
      const { names, last } = parseEntryPath(path);
      return inDirectory(path, names, (directory) => act(`${directory}/${last}`));
    },
    atEntry(path, act) {
      const { names, last } = parseEntryPath(path);
      return walk(path, names, (trail) => {
        const directories = trail.map(({ handle }) => fstatSync(handle));
        return act(`${toHandlePath(getLastHandle(trail))}/${last}`, findLinkControl(directories, ROOT));
      });
    },
    atDirectory: (path, act) => inDirectory(path, parsePath(path), (directory) => act(`${directory}/.`)),
  };
}

function step(state: Walk, name: string): void {
  if (name === '..') climb(state);
  else enter(state, name);
  for (let link = state.following.at(-1); link?.remaining === state.ahead.length; link = state.following.at(-1)) {
    state.following.pop();
    checkFollowed(state, link, fstatSync(getLastHandle(state.trail)).uid);
  }
}

function enter(state: Walk, name: string): void {
  const place = `${toHandlePath(getLastHandle(state.trail))}/${name}`;
  const path = `${state.trail.at(-1)?.path ?? ''}/${name}`;
  const handle = openDirectory(state, place);
  if (handle === undefined) follow(state, place, path);
  else state.trail.push({ handle, path });
}

function climb({ trail, path, link }: Walk): void {
  if (trail.length === 1) throw refusal(path, `leads out of the machine’s root${link}`, 'use a path below the root');
  close(trail, trail.length - 1);
}

function follow(state: Walk, place: string, path: string): void {
  const owner = lstatSync(place).uid;
  const target = readLinkTarget(state, place, path);
  const directories = state.trail.map(({ handle }) => fstatSync(handle));
  const link = `the link ${path} → ${printableLine(target, MAX_TARGET_CHARS)}`;
  state.following.push({ link, control: findLinkControl(directories, owner), remaining: state.ahead.length });
  state.links += 1;
  state.link = ` via ${link}`;
  if (state.links > MAX_LINKS)
    throw refusal(state.path, `follows more than ${MAX_LINKS} links, most recently${state.link}`, 'break the loop');
  if (target.startsWith('/')) close(state.trail, 1);
  state.ahead.push(...splitPath(target).toReversed());
}

/** The directory is open, so what was checked is what is used. */
function checkFollowed({ path }: Walk, { link, control }: FollowedLink, targetOwner: number | undefined): void {
  if (mayFollowLink(control, targetOwner)) return;
  const target = targetOwner === undefined ? 'does not exist' : `belongs to user ${targetOwner}`;
  throw new DaemonError(
    'SLW_DAEMON_LINK',
    `the path ${JSON.stringify(path)} goes through ${link}, which ${describeLinkControl(control)}, and its target ${target}. ` +
      'The daemon does not follow it: replace the link with a directory, or have root create it in a directory that only root can change',
  );
}

/** Undefined: it is something else, perhaps a link. */
function openDirectory(state: Walk, place: string): number | undefined {
  try {
    return openSync(place, DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOTDIR') return undefined;
    // Otherwise a caller would create what is missing where a user asked for it.
    if (code === 'ENOENT') for (const link of state.following) checkFollowed(state, link, undefined);
    throw error;
  }
}

function readLinkTarget({ path, link }: Walk, place: string, at: string): string {
  try {
    return readlinkSync(place);
  } catch (error) {
    if (systemErrorCode(error) !== 'EINVAL') throw error;
    throw refusal(
      path,
      `goes through ${at}${link}, which is not a directory`,
      `remove ${at} from the machine, or choose another path`,
      error,
    );
  }
}

function getLastHandle(trail: readonly OpenDirectory[]): number {
  return trail.at(-1)?.handle ?? -1;
}

function toHandlePath(handle: number): string {
  return `/proc/self/fd/${handle}`;
}

function close(trail: OpenDirectory[], keep: number): void {
  for (const { handle } of trail.splice(keep)) closeSync(handle);
}

function parseEntryPath(path: string): { readonly names: readonly string[]; readonly last: string } {
  const names = parsePath(path);
  const last = names.pop() ?? '.';
  if (last === '..') throw refusal(path, 'ends in “..”', 'name the file');
  return { names, last };
}

function parsePath(path: string): string[] {
  if (!path.startsWith('/')) throw refusal(path, 'does not start with “/”', 'start it at the machine’s root');
  if (path.includes('\0')) throw refusal(path, 'contains a null byte', 'remove it');
  return splitPath(path);
}

function splitPath(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function refusal(path: string, why: string, remediation: string, cause?: unknown): DaemonError {
  return new DaemonError('SLW_DAEMON_PATH', `the path ${JSON.stringify(path)} ${why}: ${remediation}`, { cause });
}

// A cache of open directories for many paths in a row, which halves the time of an update. Each use checks that the
// path still leads there, and all are closed when the program is idle.

interface CachedDirectory {
  readonly handle: number;
  readonly dev: number;
  readonly ino: number;
}

/** Further directories are opened and closed each time. */
const MAX_OPEN_DIRECTORIES = 64;

export interface OpenDirectories {
  /** Undefined: not open, or the path leads elsewhere now. */
  find(path: string): number | undefined;
  /** False: the caller must close it. */
  keep(path: string, handle: number): boolean;
}

function createOpenDirectories(root: string): OpenDirectories {
  const kept = new Map<string, CachedDirectory>();

  function closeAll(): void {
    for (const { handle } of kept.values()) closeSync(handle);
    kept.clear();
  }

  return {
    find(path) {
      const known = kept.get(path);
      return known !== undefined && leadsTo(`${root}/${path}`, known) ? known.handle : undefined;
    },
    keep(path, handle) {
      // A directory that moved may be in use right now, so it stays open until all are closed.
      if (kept.size >= MAX_OPEN_DIRECTORIES || kept.has(path)) return false;
      if (kept.size === 0) setImmediate(closeAll);
      const { dev, ino } = fstatSync(handle);
      kept.set(path, { handle, dev, ino });
      return true;
    },
  };
}

/** This follows links from the root of this process. If the machine's root differs, the result is false. */
function leadsTo(place: string, { dev, ino }: CachedDirectory): boolean {
  try {
    const found = statSync(place, { throwIfNoEntry: false });
    return found !== undefined && found.dev === dev && found.ino === ino;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}
