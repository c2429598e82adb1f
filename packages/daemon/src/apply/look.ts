import { DaemonError } from '../errors.ts';
import { type FileSystem, type Found, systemErrorCode } from '../host/file-system.ts';

/** Undefined: nothing. Where a file stands, or again stands, in the place of a directory, there is nothing below it. */
export async function kindAt(files: FileSystem, path: string): Promise<Found['kind'] | undefined> {
  try {
    return (await files.lookAt(path))?.kind;
  } catch (error) {
    if (isNoDirectory(error)) return undefined;
    throw error;
  }
}

/** There is no such directory, or something else in its place. */
export function isNoDirectory(error: unknown): boolean {
  if (error instanceof DaemonError) return error.code === 'SLW_DAEMON_PATH';
  return systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR';
}
