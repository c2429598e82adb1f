import { forEachLimit } from '@slipway/base/concurrency';
import type { FileSystem } from '../host/file-system.ts';
import { isNoDirectory } from './look.ts';

/** As many as Node's pool has threads: host/disk.ts says so. */
export const SYNCS_AT_ONCE = 16;

/** The names that came to and went from these directories are on the disk. */
export async function syncDirectories(files: FileSystem, directories: Iterable<string>): Promise<void> {
  await forEachLimit(new Set(directories), SYNCS_AT_ONCE, async (directory) => {
    try {
      await files.syncDirectory(directory);
    } catch (error) {
      // It went away itself, which its own parent knows.
      if (!isNoDirectory(error)) throw error;
    }
  });
}
