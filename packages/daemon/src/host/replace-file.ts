import { posix } from 'node:path';
import type { FileSystem, NewFile } from './file-system.ts';

/** After it a crash leaves the old file or the new one, whole. A file that an earlier try left beside it is removed. */
export async function replaceFile(
  files: FileSystem,
  path: string,
  file: NewFile,
  options: { readonly sync: boolean } = { sync: true },
): Promise<void> {
  const beside = besideOf(path);
  await removeUnfinished(files, path);
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

/** For who finds that nothing is to be replaced after all: what an earlier try left beside it may hold a secret. */
export async function removeUnfinished(files: FileSystem, path: string): Promise<void> {
  const beside = besideOf(path);
  if ((await files.lookAt(beside)) !== null) await files.remove(beside);
}

function besideOf(path: string): string {
  return posix.join(posix.dirname(path), `.slipway-next-${posix.basename(path)}`);
}
