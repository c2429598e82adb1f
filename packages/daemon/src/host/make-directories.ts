import { posix } from 'node:path';
import type { FileSystem, Owners } from './file-system.ts';

/** With all that are missing above it; each is on the disk before anything comes into it. */
export async function makeDirectories(files: FileSystem, path: string, owners: Owners): Promise<void> {
  if (path === '/' || (await files.lookAt(path)) !== null) return;
  const parent = posix.dirname(path);
  await makeDirectories(files, parent, owners);
  await files.makeDirectory(path, { ...owners, mode: 0o755 });
  await files.syncDirectory(parent);
}
