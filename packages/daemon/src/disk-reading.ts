// What a config makes of a disk, one file after the other: all contents of a large config at once would be most of the memory
// that a daemon ever needs. One that is let go of before the next is read costs nothing.
import { type DiskEntry, type DiskFile, diskOf, type DiskPlan, type RenderedIgnition } from '@slipway/fleet';

export interface DiskReading extends Omit<DiskPlan, 'entries'> {
  /** In no order. Throws a FleetError at the first whose contents cannot be read. */
  entries(): AsyncGenerator<DiskEntry>;
}

type File = NonNullable<NonNullable<RenderedIgnition['storage']>['files']>[number];

export async function readDisk(config: RenderedIgnition): Promise<DiskReading> {
  const { files = [], ...others } = config.storage ?? {};
  const { entries, ...rest } = await diskOf({ ...config, storage: others });
  return {
    ...rest,
    async *entries() {
      yield* entries;
      for (const file of files) yield readFile(config, file);
    },
  };
}

export async function readFile({ ignition }: RenderedIgnition, file: File): Promise<DiskFile> {
  const { entries } = await diskOf({ ignition, storage: { files: [file] } });
  const [entry] = entries;
  if (entry?.kind !== 'file') throw new TypeError(`the file ${file.path} became none`);
  return entry;
}
