import { posix } from 'node:path';
import type { FileSystem, NewFile } from './file-system.ts';

/** After it a crash leaves the old file or the new one, whole. A file that an earlier try left beside it is removed. */
export async function replaceFile(
  files: FileSystem,
  path: string,
  file: NewFile,
  options: { readonly sync: boolean } = { sync: true },
): Promise<void> {
  const beside = posix.join(posix.dirname(path), `.slipway-next-${posix.basename(path)}`);
  if ((await files.lookAt(beside)) !== null) await files.remove(beside);
  try {
    await files.createFile(beside, { ...file, replaces: path });
    if (options.sync) await files.syncFile(beside);
    await files.rename(beside, path);
  } catch (error) {
    // It may hold a secret, and nobody would come for it. A disk that refuses this too says so at the next call.
    await files.remove(beside).catch(() => {});
    throw error;
  }
  if (options.sync) await files.syncDirectory(posix.dirname(path));
}
