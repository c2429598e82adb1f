// Watches on all directories that matter for drift, kept in sync with the existing ones, and what their events mean.
import { watch } from 'node:fs';
import { posix } from 'node:path';
import { UNIT_DIRECTORY } from '@slipway/fleet';
import type { DesiredMachine } from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import { type FileSystem, systemErrorCode } from '../host/file-system.ts';
import { createMachinePaths } from '../host/machine-path.ts';
import type { Baseline } from './baseline.ts';

export interface DirectoryWatcher {
  /**
   * Reports changes of names in a directory. Follows links as the file system does. Throws a DaemonError, or the error
   * of the operating system.
   */
  watch(directory: string, onEvent: (event: DirectoryEvent) => void): { close(): void };
}

const OWN_NAME = '.';

/** Uses inotify, with one watch per directory. */
export function createDirectoryWatcher({ root }: { readonly root: string }): DirectoryWatcher {
  const { atDirectory } = createMachinePaths(root);
  return {
    watch(directory, onEvent) {
      const watcher = atDirectory(directory, (place) => watch(place, { persistent: false, encoding: 'utf8' }));
      watcher.on('change', (type, name) => {
        // Events of the directory itself have the last name of its path, which is that of an open handle here.
        const named = name === OWN_NAME ? posix.basename(directory) : name;
        onEvent({ type: type === 'rename' ? 'rename' : 'change', name: typeof named === 'string' ? named : null });
      });
      // The watch is dead: trigger a full check, which also renews the watches.
      watcher.on('error', () => onEvent({ type: 'rename', name: null }));
      return { close: () => watcher.close() };
    },
  };
}

export interface Watches {
  /** Recreates the watches at this directory and below. Rejects if the operating system provides no more. */
  renew(scope: WatchScope, at: string): Promise<void>;
  close(): void;
}

export function createWatches(
  files: FileSystem,
  watcher: DirectoryWatcher,
  onImpact: (impact: EventImpact) => void,
): Watches {
  const open = new Map<string, { close(): void }>();

  function drop(directory: string): void {
    open.get(directory)?.close();
    open.delete(directory);
  }

  function add(scope: WatchScope, directory: string): void {
    try {
      const watch = watcher.watch(directory, (event) => onImpact(interpretEvent(scope, directory, event)));
      open.set(directory, watch);
    } catch (error) {
      // It does not exist, or a link there is not followed. The watch on its parent reports when that changes.
      if (error instanceof DaemonError || systemErrorCode(error) === 'ENOENT') return;
      throw error;
    }
  }

  return {
    async renew(scope, at) {
      const isBelow = (directory: string) => at === '/' || directory === at || directory.startsWith(`${at}/`);
      for (const directory of [...open.keys()].filter(isBelow)) drop(directory);
      for (const directory of await listWatchedDirectories(files, scope)) {
        if (isBelow(directory)) add(scope, directory);
      }
    },

    close() {
      for (const directory of open.keys()) drop(directory);
    },
  };
}

async function listWatchedDirectories(files: FileSystem, { directories, units }: WatchScope): Promise<string[]> {
  if (units.size === 0) return [...directories];
  const wants = (await files.list(UNIT_DIRECTORY)).filter(isWantsDirectory);
  return [...directories, ...wants.map((name) => `${UNIT_DIRECTORY}/${name}`)];
}

/** The paths of a machine that matter for drift. */
export interface WatchScope {
  /** Every change to these matters. */
  readonly paths: ReadonlySet<string>;
  /** Directories in which every name matters. */
  readonly within: ReadonlySet<string>;
  /** All directories to watch if they exist, including every parent, because a parent may be replaced. */
  readonly directories: ReadonlySet<string>;
  readonly units: ReadonlySet<string>;
}

export interface DirectoryEvent {
  /** `rename`: a name appeared or disappeared. `change`: contents, mode or owner changed. */
  readonly type: 'rename' | 'change';
  /** Null if the operating system does not report it. */
  readonly name: string | null;
}

export interface EventImpact {
  /** The machine must be compared again. */
  readonly check: boolean;
  /** Cached results for this path are outdated. */
  readonly path: string | null;
  /** Units may have been enabled or disabled. */
  readonly units: boolean;
  /** The directory at and below which watches must be recreated. */
  readonly rewatch: string | null;
}

const RUNTIME_UNITS = '/run/systemd/system';

/** Directories of the links that enable a unit. */
const WANTS = /\.(?:wants|requires|upholds)$/;

function isWantsDirectory(name: string): boolean {
  return WANTS.test(name);
}

/** `keys`: the files with ssh keys and passwords, which the config does not name by path. */
export function buildWatchScope(
  desired: DesiredMachine,
  baseline: Baseline | null,
  keys: readonly string[],
): WatchScope {
  const units = desired.units.map(({ name }) => name);
  const within = units.map((name) => `${UNIT_DIRECTORY}/${name}.d`);
  const paths = [
    ...desired.entries.keys(),
    ...(baseline?.absent ?? []),
    ...units.map((name) => `${UNIT_DIRECTORY}/${name}`),
    ...keys,
  ];
  const directories = [...paths.flatMap(listAncestors), ...within.flatMap(listAncestors), ...within];
  if (units.length > 0) directories.push(RUNTIME_UNITS, ...listAncestors(RUNTIME_UNITS));
  return {
    paths: new Set(paths),
    within: new Set(within),
    directories: new Set(directories),
    units: new Set(units),
  };
}

function listAncestors(path: string): string[] {
  const parent = posix.dirname(path);
  return parent === path ? [] : [...listAncestors(parent), parent];
}

export function interpretEvent(scope: WatchScope, directory: string, { type, name }: DirectoryEvent): EventImpact {
  if (name === null) return { check: true, path: null, units: true, rewatch: directory };
  const path = posix.join(directory, name);
  const units = isAboutUnits(scope, directory, name);
  const counts = scope.paths.has(path) || scope.within.has(directory);
  const rewatch = type === 'rename' ? findReplacedDirectory(scope, directory, name) : null;
  return { check: counts || units || rewatch !== null, path: counts ? path : null, units, rewatch };
}

function findReplacedDirectory({ directories }: WatchScope, directory: string, name: string): string | null {
  const path = posix.join(directory, name);
  const isWants = directory === UNIT_DIRECTORY && isWantsDirectory(name);
  if (directories.has(path) || isWants) return path;
  // A removed directory is reported by its parent, and by its watch under its name.
  return name === posix.basename(directory) ? directory : null;
}

function isAboutUnits({ units }: WatchScope, directory: string, name: string): boolean {
  if (directory === UNIT_DIRECTORY) return units.has(name) || isWantsDirectory(name);
  return units.has(name) && (directory === RUNTIME_UNITS || isWantsDirectory(directory));
}
