// What a config makes of a machine's disk, with all contents.
import { diskOf, type DiskEntry, type DiskPlan, type DiskUser, readMachineConfig } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import type { StoredConfig } from '../stored-config.ts';

export interface Wanted {
  readonly disk: DiskPlan;
  readonly entries: ReadonlyMap<string, DiskEntry>;
  readonly core: DiskUser | undefined;
  /** Of a file that keeps what the OS has: what the config says of it all the same. */
  readonly says: (path: string, field: 'mode' | 'user' | 'group') => boolean;
}

/** Rejects with a DaemonError or a FleetError where the config cannot be read. */
export async function wantedBy({ name, spec }: StoredConfig): Promise<Wanted> {
  const read = readMachineConfig({ metadata: { name }, spec });
  if (!read.ok) {
    throw new DaemonError('SLW_DAEMON_CONFIG', read.problems.map(({ message }) => message).join('; '));
  }
  const disk = await diskOf(read.input.config);
  const files = read.input.config.storage?.files ?? [];
  return {
    disk,
    entries: new Map(disk.entries.map((entry) => [entry.path, entry])),
    core: disk.users.find((user) => user.name === 'core'),
    says: (path, field) => files.find((file) => file.path === path)?.[field] !== undefined,
  };
}
