// The watches on all directories that matter, kept in step with those that exist.
import { posix } from 'node:path';
import { UNIT_DIRECTORY } from '@slipway/fleet';
import { type FileSystem, systemErrorCode } from '../host/file-system.ts';
import type { DirectoryWatcher } from './directory-watcher.ts';
import { type Interest, isWantsDirectory, type Meaning, meaningOf } from './interest.ts';

export interface Watches {
  /** Makes watches anew at this directory and below. Rejects where the operating system gives no more of them. */
  renew(interest: Interest, at: string): Promise<void>;
  close(): void;
}

const MOST_LINKS = 40;

export function createWatches(
  files: FileSystem,
  watcher: DirectoryWatcher,
  onMeaning: (meaning: Meaning) => void,
): Watches {
  const open = new Map<string, { close(): void }>();

  function drop(directory: string): void {
    open.get(directory)?.close();
    open.delete(directory);
  }

  function add(interest: Interest, directory: string, real: string): void {
    try {
      const watch = watcher.watch(real, (event) => onMeaning(meaningOf(interest, directory, event)));
      open.set(directory, watch);
    } catch (error) {
      // It has just gone; the watch on its parent tells when it comes back.
      if (!['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) throw error;
    }
  }

  return {
    async renew(interest, at) {
      const isBelow = (directory: string) => at === '/' || directory === at || directory.startsWith(`${at}/`);
      for (const directory of [...open.keys()].filter(isBelow)) drop(directory);
      const real = new Map<string, string | null>([['/', '/']]);
      for (const directory of await directoriesOf(files, interest)) {
        if (!isBelow(directory)) continue;
        const place = await realDirectory(files, directory, real);
        if (place !== null) add(interest, directory, place);
      }
    },

    close() {
      for (const directory of open.keys()) drop(directory);
    },
  };
}

async function directoriesOf(files: FileSystem, { directories, units }: Interest): Promise<string[]> {
  if (units.size === 0) return [...directories];
  const wants = (await files.list(UNIT_DIRECTORY)).filter(isWantsDirectory);
  return [...directories, ...wants.map((name) => `${UNIT_DIRECTORY}/${name}`)];
}

/** Links resolved as the machine sees them, and not as the root is mounted; null: there is no such directory. */
async function realDirectory(
  files: FileSystem,
  path: string,
  known: Map<string, string | null>,
  links = 0,
): Promise<string | null> {
  const before = known.get(path);
  if (before !== undefined) return before;
  const parent = await realDirectory(files, posix.dirname(path), known, links);
  const place = parent === null ? null : await follow(files, posix.join(parent, posix.basename(path)), known, links);
  known.set(path, place);
  return place;
}

async function follow(
  files: FileSystem,
  place: string,
  known: Map<string, string | null>,
  links: number,
): Promise<string | null> {
  const found = await files.lookAt(place);
  if (found?.kind === 'directory') return place;
  if (found?.kind !== 'link' || links >= MOST_LINKS) return null;
  return realDirectory(files, posix.resolve(posix.dirname(place), found.target), known, links + 1);
}
