// What was on the machine when it reached its config: only what comes after that is drift.
import { array, object, stateFileCodec, string } from '@slipway/base/codec';
import { UNIT_DIRECTORY } from '@slipway/fleet';
import { CORE, type DesiredMachine, loadDesiredMachine } from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import { type FileSystem, type FileInfo, systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { readStateFile, STATE_DIRECTORY, writeStateFile } from '../state-file.ts';
import type { StoredConfig } from '../stored-config.ts';

export interface Baseline {
  /** The config it was taken at. For another one it says nothing. */
  readonly config: string;
  /** Files of units that others put beside those of the config, before us. */
  readonly tolerated: readonly string[];
  /** Paths that earlier configs had, and where nothing was left. */
  readonly absent: readonly string[];
}

export const BASELINE = `${STATE_DIRECTORY}/baseline.json`;
const MAX_BASELINE_BYTES = 1024 * 1024;

/** Of each list, so that both fit however long the paths are and whatever has to be escaped in them. */
const MAX_LIST_CHARS = 64 * 1024;

const paths = array(string({ pattern: /^\// }));
const baselineFile = stateFileCodec<Baseline>({
  format: 1,
  maxChars: MAX_BASELINE_BYTES,
  decoder: object({ config: string(), tolerated: paths, absent: paths }),
});

/** To be called when the machine has reached a config. `previous` is the one it had before; null: none. */
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
  };
  await writeStateFile(host.files, BASELINE, `${baselineFile.encode(baseline)}\n`);
}

/** Null: there is none that this program can read. */
export async function readBaseline(files: FileSystem): Promise<Baseline | null> {
  return readStateFile(files, BASELINE, baselineFile, MAX_BASELINE_BYTES);
}

/** All but directories: others put their things there too, and one that is made again harms nothing. */
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

/** The first ones, which are the newest. */
function limitPaths(paths: readonly string[]): string[] {
  let room = MAX_LIST_CHARS;
  return paths.filter((path) => (room -= path.length + 3) >= 0);
}

/**
 * Files that change a unit of the config, and that the config does not have: paths, sorted. Only of units that the config
 * names: others are not its business.
 */
export async function findUnitExtras(files: FileSystem, { units, entries }: DesiredMachine): Promise<string[]> {
  const extras: string[] = [];
  for (const { name, unmasked } of units) {
    const path = `${UNIT_DIRECTORY}/${name}`;
    // A mask of a unit that must not be masked is told as such.
    if (!entries.has(path) && (await replacesUnit(files, path, unmasked))) extras.push(path);
    const dropIns = (await listExtras(files, `${path}.d`)).filter(isDropIn);
    extras.push(...dropIns.map((each) => `${path}.d/${each}`).filter((each) => !entries.has(each)));
  }
  return extras.sort();
}

/** Null also where a file stands in place of a directory on the way: then nothing is at the path. */
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

/** Hidden ones are not read by the service manager: such as what a write that was cut off left there. */
function isDropIn(name: string): boolean {
  return name.endsWith('.conf') && !name.startsWith('.');
}

/** Other links are aliases: the service manager makes them itself, when a unit is enabled. */
async function replacesUnit(files: FileSystem, path: string, unmasked: boolean): Promise<boolean> {
  const found = await findExtra(files, path);
  if (found?.kind === 'link') return found.target === '/dev/null' && !unmasked;
  return found?.kind === 'file';
}
