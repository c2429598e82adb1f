import { posix } from 'node:path';
import type { FileSystem } from './file-system.ts';

/** All that is in it; the directory itself stays. Links are removed, not followed. */
export async function emptyDirectory(files: FileSystem, directory: string): Promise<void> {
  for (const name of await files.list(directory)) {
    const path = posix.join(directory, name);
    if ((await files.lookAt(path))?.kind !== 'directory') await files.remove(path);
    else {
      await emptyDirectory(files, path);
      await files.removeDirectory(path);
    }
  }
}
