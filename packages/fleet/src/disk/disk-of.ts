// What the real Ignition client writes for a config.
import { fileOf, directoryOf, linkOf } from './nodes.ts';
import { groupOf, userOf } from './users.ts';
import { presetsOf, unitEntries, unmaskedIn } from './units.ts';
import type { RenderedIgnition } from '../render/ignition.ts';
import type { DiskEntry, DiskPlan } from './disk-plan.ts';

/** Throws a FleetError where the config's contents are not in it or cannot be read; a rendered config has all of them. */
export async function diskOf(config: RenderedIgnition): Promise<DiskPlan> {
  const { users = [], groups = [] } = config.passwd ?? {};
  const { shouldExist = [], shouldNotExist = [] } = config.kernelArguments ?? {};
  const units = config.systemd?.units ?? [];
  return {
    entries: [...(await storageEntries(config.storage)), ...units.flatMap(unitEntries)].sort(byPath),
    presets: presetsOf(units),
    unmasked: unmaskedIn(units),
    users: users.map(userOf),
    groups: groups.map(groupOf),
    kernelArguments: { shouldExist, shouldNotExist },
  };
}

async function storageEntries(storage: RenderedIgnition['storage']): Promise<DiskEntry[]> {
  const { files = [], directories = [], links = [] } = storage ?? {};
  const entries: DiskEntry[] = [...directories.map(directoryOf), ...links.map(linkOf)];
  for (const file of files) entries.push(await fileOf(file));
  return entries;
}

function byPath(a: DiskEntry, b: DiskEntry): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}
