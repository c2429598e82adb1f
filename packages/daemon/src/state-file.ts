// Small files of the daemon's own in its directory: private, and whole after any crash.
import { type FileSystem, ownOwners, replaceFile } from './host/file-system.ts';
import { STATE_DIRECTORY } from './node-paths.ts';

export async function writeStateFile(files: FileSystem, path: string, text: string): Promise<void> {
  if ((await files.lookAt(STATE_DIRECTORY)) === null) {
    await files.makeDirectory(STATE_DIRECTORY, { ...ownOwners(), mode: 0o755 });
    await files.syncDirectory('/etc');
  }
  await replaceFile(files, path, { ...ownOwners(), mode: 0o600, bytes: new TextEncoder().encode(text) });
}
