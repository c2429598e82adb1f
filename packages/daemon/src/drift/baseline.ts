// What was on the machine when it reached its config. Only later changes are drift.
import { array, object, stateFileCodec, string, withFallback } from '@slipway/base/codec';
import { UNIT_DIRECTORY } from '@slipway/fleet';
import { CORE, type DesiredMachine, loadDesiredMachine } from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import { type FileSystem, type FileInfo, systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { findUnit, listEnablingLinks } from '../host/unit-files.ts';
import { readStateFile, STATE_DIRECTORY, writeStateFile } from '../state-file.ts';
import type { StoredConfig } from '../stored-config.ts';

export interface Baseline {
  /** The config at which it was recorded. It does not apply to another one. */
  readonly config: string;
  /** Files of other programs next to the config's unit files, present before the daemon. */
  readonly tolerated: readonly string[];
  /** Paths of earlier configs that are empty now. */
  readonly absent: readonly string[];
  /** Links that enable units. The OS may add others to a unit later without creating them. */
  readonly linked: readonly string[];
}

export const BASELINE = `${STATE_DIRECTORY}/baseline.json`;
const MAX_BASELINE_BYTES = 1024 * 1024;

/** Applies to each list, so that all three fit even if every character is escaped. */
const MAX_LIST_CHARS = 48 * 1024;

const paths = array(string({ pattern: /^\// }));
const baselineFile = stateFileCodec<Baseline>({
  format: 1,
  maxChars: MAX_BASELINE_BYTES,
  // Earlier versions recorded no links. Without the rest, what has drifted by now would count as tolerated.
  decoder: object({ config: string(), tolerated: paths, absent: paths, linked: withFallback(paths, []) }),
});

/** Call this when the machine has reached a config. `previous`: the config before. Null: none. */
export async function recordBaseline(host: Host, previous: StoredConfig | null, config: StoredConfig): Promise<void> {
  const desired = await loadDesiredMachine(config);
  const earlier = await readBaseline(host.files);
  const left = previous === null ? [] : await listPaths(host, await loadDesiredMachine(previous));
  const kept = new Set(await listPaths(host, desired));
  const gone = [...new Set([...left, ...(earlier?.absent ?? [])])].filter((path) => !kept.has(path));
  const baseline: Baseline = {
    config: config.name,
    tolerated: limitPaths(await findUnitExtras(host.files, desired)),
    absent: limitPaths(await listAbsent(host.files, gone)),
    linked: limitPaths(await listLinked(host.files, desired)),
  };
  await writeStateFile(host.files, BASELINE, `${baselineFile.encode(baseline)}\n`);
}

/** Null: there is none, or this version cannot read it. */
export async function readBaseline(files: FileSystem): Promise<Baseline | null> {
  return readStateFile(files, BASELINE, baselineFile, MAX_BASELINE_BYTES);
}

/** Excludes directories: other programs use them too, and a recreated one does no harm. */
async function listPaths(host: Host, { entries, core: { sshKeys } }: DesiredMachine): Promise<string[]> {
  const home = sshKeys === null ? undefined : await host.accounts.home(CORE);
  const keys = home === undefined || sshKeys === null ? [] : [`${home.path}/${sshKeys.paths[0]}`];
  const paths = [...entries.values()].filter(({ kind }) => kind !== 'directory').map(({ path }) => path);
  return [...paths, ...keys];
}

async function listAbsent(files: FileSystem, paths: readonly string[]): Promise<string[]> {
  const absent: string[] = [];
  for (const path of paths) {
    if ((await findExtra(files, path)) === null) absent.push(path);
  }
  return absent;
}

async function listLinked(files: FileSystem, { units }: DesiredMachine): Promise<string[]> {
  const linked: string[] = [];
  for (const { name, enabled } of units) {
    const paths = enabled === true ? await listLinks(files, name) : [];
    const absent = await listAbsent(files, paths);
    linked.push(...paths.filter((path) => !absent.includes(path)));
  }
  return linked;
}

/** Sorted paths of links that enabling the unit creates and that do not exist. */
export async function findMissingLinks(files: FileSystem, name: string): Promise<string[]> {
  return listAbsent(files, await listLinks(files, name));
}

/** Empty if the file of the unit cannot be read. */
async function listLinks(files: FileSystem, name: string): Promise<string[]> {
  const unit = await findUnit(files, name).catch((error: unknown) => orNothing(error, null));
  if (unit?.kind !== 'unit' || unit.name !== name) return [];
  return listEnablingLinks(unit)
    .map(({ path }) => path)
    .filter((path) => UNIT_LINK.test(path))
    .sort();
}

/** Other names are none of a unit, and systemd creates no such link. Looking for one that is too long fails. */
const UNIT_LINK = new RegExp(`^${UNIT_DIRECTORY}(?:/[\\w:.\\\\@-]{1,255}){1,2}$`);

/** The first paths, which are the newest. */
function limitPaths(paths: readonly string[]): string[] {
  let room = MAX_LIST_CHARS;
  return paths.filter((path) => (room -= path.length + 3) >= 0);
}

/**
 * Sorted paths of files that change a unit of the config but are not part of the config. Units that the config does not
 * name are ignored.
 */
export async function findUnitExtras(files: FileSystem, { units, entries }: DesiredMachine): Promise<string[]> {
  const extras: string[] = [];
  for (const { name, unmasked } of units) {
    const path = `${UNIT_DIRECTORY}/${name}`;
    // Masks of units that must not be masked are reported by compareUnit.
    if (!entries.has(path) && (await replacesUnit(files, path, unmasked))) extras.push(path);
    const dropIns = (await listExtras(files, `${path}.d`)).filter(isDropIn);
    extras.push(...dropIns.map((each) => `${path}.d/${each}`).filter((each) => !entries.has(each)));
  }
  return extras.sort();
}

/** Null also if a parent of the path is a file. */
export async function findExtra(files: FileSystem, path: string): Promise<FileInfo | null> {
  return files.lookAt(path).catch((error: unknown) => orNothing(error, null));
}

async function listExtras(files: FileSystem, path: string): Promise<string[]> {
  return files.list(path).catch((error: unknown) => orNothing(error, []));
}

function orNothing<T>(error: unknown, nothing: T): T {
  if (error instanceof DaemonError || systemErrorCode(error) === 'ENOTDIR') return nothing;
  throw error;
}

/** systemd ignores hidden files, for example those left by an interrupted write. */
function isDropIn(name: string): boolean {
  return name.endsWith('.conf') && !name.startsWith('.');
}

/** Other links are aliases that systemd creates when a unit is enabled. */
async function replacesUnit(files: FileSystem, path: string, unmasked: boolean): Promise<boolean> {
  const found = await findExtra(files, path);
  if (found?.kind === 'link') return found.target === '/dev/null' && !unmasked;
  return found?.kind === 'file';
}
