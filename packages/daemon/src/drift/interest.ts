// Which paths of a machine matter for drift, and what it means when something happens to one.
import { posix } from 'node:path';
import { UNIT_DIRECTORY } from '@slipway/fleet';
import type { DesiredMachine } from '../desired-machine.ts';
import type { Baseline } from './baseline.ts';

export interface Interest {
  /** Whatever happens to these counts. */
  readonly paths: ReadonlySet<string>;
  /** Directories in which every name counts. */
  readonly within: ReadonlySet<string>;
  /** All that has to be watched, as far as it exists: also every directory on the way, for it may be replaced. */
  readonly directories: ReadonlySet<string>;
  readonly units: ReadonlySet<string>;
}

export interface DirectoryEvent {
  /** `rename`: a name came or went. `change`: of contents, mode or owner. */
  readonly type: 'rename' | 'change';
  /** Null where the operating system does not say. */
  readonly name: string | null;
}

export interface Meaning {
  /** The machine has to be compared again. */
  readonly check: boolean;
  /** What is known of this path no longer counts. */
  readonly path: string | null;
  /** Units may have been enabled or disabled. */
  readonly units: boolean;
  /** Watches at this directory and below are to be made anew. */
  readonly rewatch: string | null;
}

const RUNTIME_UNITS = '/run/systemd/system';
/** Where links are that enable a unit. */
const WANTS = /\.(?:wants|requires|upholds)$/;

export function isWantsDirectory(name: string): boolean {
  return WANTS.test(name);
}

/** `keys` are the files with ssh keys and passwords, which the config does not name by path. */
export function interestOf(desired: DesiredMachine, baseline: Baseline | null, keys: readonly string[]): Interest {
  const units = desired.units.map(({ name }) => name);
  const within = units.map((name) => `${UNIT_DIRECTORY}/${name}.d`);
  const paths = [
    ...desired.entries.keys(),
    ...(baseline?.absent ?? []),
    ...units.map((name) => `${UNIT_DIRECTORY}/${name}`),
    ...keys,
  ];
  const directories = [...paths.flatMap(ancestorsOf), ...within.flatMap(ancestorsOf), ...within];
  if (units.length > 0) directories.push(RUNTIME_UNITS, ...ancestorsOf(RUNTIME_UNITS));
  return {
    paths: new Set(paths),
    within: new Set(within),
    directories: new Set(directories),
    units: new Set(units),
  };
}

function ancestorsOf(path: string): string[] {
  const parent = posix.dirname(path);
  return parent === path ? [] : [...ancestorsOf(parent), parent];
}

export function meaningOf(interest: Interest, directory: string, { type, name }: DirectoryEvent): Meaning {
  if (name === null) return { check: true, path: null, units: true, rewatch: directory };
  const path = posix.join(directory, name);
  const units = isAboutUnits(interest, directory, name);
  const counts = interest.paths.has(path) || interest.within.has(directory);
  const rewatch = type === 'rename' ? replacedBy(interest, directory, name) : null;
  return { check: counts || units || rewatch !== null, path: counts ? path : null, units, rewatch };
}

function replacedBy({ directories }: Interest, directory: string, name: string): string | null {
  const path = posix.join(directory, name);
  const isWants = directory === UNIT_DIRECTORY && isWantsDirectory(name);
  if (directories.has(path) || isWants) return path;
  // A directory that goes is told by its parent, and by its own watch under its own name.
  return name === posix.basename(directory) ? directory : null;
}

function isAboutUnits({ units }: Interest, directory: string, name: string): boolean {
  if (directory === UNIT_DIRECTORY) return units.has(name) || isWantsDirectory(name);
  return units.has(name) && (directory === RUNTIME_UNITS || isWantsDirectory(directory));
}
