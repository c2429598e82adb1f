// What a config makes of a machine's disk.
import { type DiskEntry, type DiskFile, type DiskUser, readMachineConfig } from '@slipway/fleet';
import { readDisk, readFile } from '../disk-reading.ts';
import { DaemonError } from '../errors.ts';
import type { StoredConfig } from '../stored-config.ts';

export interface WantedFile extends Omit<DiskFile, 'bytes'> {
  /** Read from the config each time, and not kept. */
  readonly bytes: () => Promise<Uint8Array>;
}

export type WantedEntry = Exclude<DiskEntry, DiskFile> | WantedFile;

export interface Wanted {
  /** By path. */
  readonly entries: ReadonlyMap<string, WantedEntry>;
  readonly core: DiskUser | undefined;
  /** Of a file that keeps what the OS has: what the config says of it all the same. */
  readonly says: (path: string, field: 'mode' | 'user' | 'group') => boolean;
}

/** Rejects with a DaemonError or a FleetError where the config, or any contents in it, cannot be read. */
export async function wantedBy({ name, spec }: StoredConfig): Promise<Wanted> {
  const read = readMachineConfig({ metadata: { name }, spec });
  if (!read.ok) {
    throw new DaemonError('SLW_DAEMON_CONFIG', read.problems.map(({ message }) => message).join('; '));
  }
  const { config } = read.input;
  const files = new Map((config.storage?.files ?? []).map((file) => [file.path, file]));
  const disk = await readDisk(config);
  const entries = new Map<string, WantedEntry>();
  for await (const entry of disk.entries()) {
    const file = files.get(entry.path);
    const again = file === undefined ? undefined : async () => (await readFile(config, file)).bytes;
    entries.set(entry.path, entry.kind === 'file' ? wantedFile(entry, again) : entry);
  }
  return {
    entries,
    core: disk.users.find((user) => user.name === 'core'),
    says: (path, field) => files.get(path)?.[field] !== undefined,
  };
}

/** Units are text in the config already, and short: their bytes stay. */
function wantedFile({ bytes, ...rest }: DiskFile, again: WantedFile['bytes'] = async () => bytes): WantedFile {
  return { ...rest, bytes: again };
}
