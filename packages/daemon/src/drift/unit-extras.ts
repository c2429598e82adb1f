// Files that change a unit of the config, and that the config does not have.
import { UNIT_DIRECTORY } from '@slipway/fleet';
import type { DesiredMachine } from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import { type FileSystem, type Found, systemErrorCode } from '../host/file-system.ts';

/** Paths, sorted. Only of units that the config names: others are not its business. */
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
export async function lookForExtra(files: FileSystem, path: string): Promise<Found | null> {
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
  const found = await lookForExtra(files, path);
  if (found?.kind === 'link') return found.target === '/dev/null' && !unmasked;
  return found?.kind === 'file';
}
