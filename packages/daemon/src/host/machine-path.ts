// From a path of the machine to a name in an open directory below the root that the machine is mounted at.
//
// Every directory on the way is opened on its own and not through a link, and the next one through the handle of the one
// before (/proc/self/fd/N/name: Node has no openat), so nobody can put a link in place of a directory between a check and
// the use. Links among the parents are read and followed as the machine itself would: absolute ones from its root.
import { closeSync, constants, fstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { DaemonError } from '../errors.ts';
import { systemErrorCode } from './file-system.ts';

/** As many as the kernel follows. */
const MAX_LINKS = 40;
/** Linux has it on every architecture, Node has no name for it. The handle leads somewhere and reads nothing. */
export const O_PATH = 0o10000000;
const DIRECTORY = O_PATH | constants.O_DIRECTORY;

interface OpenDirectory {
  readonly handle: number;
  /** As the machine sees it, links resolved. */
  readonly path: string;
}

interface Walk {
  /** What the caller asked for. */
  readonly path: string;
  /** From the root to where the walk is. */
  readonly trail: OpenDirectory[];
  /** Names still to go, the next one last. */
  readonly ahead: string[];
  /** For messages: the last link that was followed. */
  link: string;
  links: number;
}

export interface MachinePaths {
  /** `act` gets a path that is good for as long as it runs, whose last name is the one thing that may still be a link. */
  readonly atPath: <T>(path: string, act: (place: string) => T) => T;
  /** The same for a directory, which may also be reached through a link at the path itself: /usr/local is one. */
  readonly atDirectory: <T>(path: string, act: (place: string) => T) => T;
}

export function createMachinePaths(root: string): MachinePaths {
  const open = createOpenDirectories(root);

  function inDirectory<T>(path: string, names: readonly string[], act: (directory: string) => T): T {
    const key = names.join('/');
    const known = open.find(key);
    if (known !== undefined) return act(toHandlePath(known));
    const trail = [{ handle: openSync(root, DIRECTORY), path: '' }];
    try {
      const state: Walk = { path, trail, ahead: names.toReversed(), link: '', links: 0 };
      for (let name = state.ahead.pop(); name !== undefined; name = state.ahead.pop()) step(state, name);
      const handle = getLastHandle(trail);
      if (open.keep(key, handle)) trail.pop();
      return act(toHandlePath(handle));
    } finally {
      close(trail, 0);
    }
  }

  return {
    atPath(path, act) {
      const names = parsePath(path);
      const last = names.pop() ?? '.';
      if (last === '..') throw refusal(path, 'ends in “..”', 'name the file itself');
      return inDirectory(path, names, (directory) => act(`${directory}/${last}`));
    },
    atDirectory: (path, act) => inDirectory(path, parsePath(path), (directory) => act(`${directory}/.`)),
  };
}

function step(state: Walk, name: string): void {
  if (name === '..') return climb(state);
  const place = `${toHandlePath(getLastHandle(state.trail))}/${name}`;
  const path = `${state.trail.at(-1)?.path ?? ''}/${name}`;
  const handle = openDirectory(place);
  if (handle === undefined) return follow(state, path, linkTarget(state, place, path));
  state.trail.push({ handle, path });
}

function climb({ trail, path, link }: Walk): void {
  if (trail.length === 1) throw refusal(path, `leads out of the machine’s root${link}`, 'name a path below the root');
  close(trail, trail.length - 1);
}

function follow(state: Walk, link: string, target: string): void {
  state.links += 1;
  state.link = ` by the link ${link} → ${target}`;
  if (state.links > MAX_LINKS)
    throw refusal(state.path, `follows more than ${MAX_LINKS} links, the last one${state.link}`, 'break the ring');
  if (target.startsWith('/')) close(state.trail, 1);
  state.ahead.push(...splitPath(target).toReversed());
}

/** undefined: it is something else, perhaps a link. */
function openDirectory(place: string): number | undefined {
  try {
    return openSync(place, DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

function linkTarget({ path, link }: Walk, place: string, at: string): string {
  try {
    return readlinkSync(place);
  } catch (error) {
    if (systemErrorCode(error) !== 'EINVAL') throw error;
    throw refusal(
      path,
      `goes through ${at}${link}, which is no directory`,
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

function parsePath(path: string): string[] {
  if (!path.startsWith('/')) throw refusal(path, 'does not start with “/”', 'name it from the machine’s root');
  if (path.includes('\0')) throw refusal(path, 'has a zero byte in it', 'take it out');
  return splitPath(path);
}

function splitPath(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function refusal(path: string, why: string, remediation: string, cause?: unknown): DaemonError {
  return new DaemonError('SLW_DAEMON_PATH', `the path ${JSON.stringify(path)} ${why}: ${remediation}`, { cause });
}

// Directories that are kept open while many paths in them are used in a row, which takes half the time of an update. Each use
// asks again whether the path still leads there, and none stays open when the program has come to rest.

interface CachedDirectory {
  readonly handle: number;
  readonly dev: number;
  readonly ino: number;
}

/** More are opened and closed each time. */
const MAX_OPEN_DIRECTORIES = 64;

export interface OpenDirectories {
  /** undefined: not open, or the path leads elsewhere by now. */
  find(path: string): number | undefined;
  /** False: it is the caller's to close. */
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
      // One that leads elsewhere by now may be in use this moment, so it stays until all are closed.
      if (kept.size >= MAX_OPEN_DIRECTORIES || kept.has(path)) return false;
      if (kept.size === 0) setImmediate(closeAll);
      const { dev, ino } = fstatSync(handle);
      kept.set(path, { handle, dev, ino });
      return true;
    },
  };
}

/** Links are followed from this machine's root here: where that is not the root of the other, the answer is no. */
function leadsTo(place: string, { dev, ino }: CachedDirectory): boolean {
  try {
    const found = statSync(place, { throwIfNoEntry: false });
    return found !== undefined && found.dev === dev && found.ino === ino;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}
