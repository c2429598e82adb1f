// A file that somebody with access to the machine makes: the next update goes ahead though the machine has drifted.
import { posix } from 'node:path';
import type { FileSystem } from '../host/file-system.ts';
import { FORCE_FILE } from '../node-paths.ts';

export async function isForced(files: FileSystem): Promise<boolean> {
  return (await files.lookAt(FORCE_FILE)) !== null;
}

/** Whether it was there. It counts once: it is gone, on the disk too, when this resolves. */
export async function takeForceFile(files: FileSystem): Promise<boolean> {
  if (!(await isForced(files))) return false;
  await files.remove(FORCE_FILE);
  await files.syncDirectory(posix.dirname(FORCE_FILE));
  return true;
}
