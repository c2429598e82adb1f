// Paths on a node, and how the daemon writes its small state files: private, and intact after any crash.
import type { StateFileCodec } from '@slipway/base/codec';
import { type FileSystem, ownOwners, replaceFile } from './host/file-system.ts';

export const STATE_DIRECTORY = '/etc/machine-config-daemon';
export const CURRENT_CONFIG = `${STATE_DIRECTORY}/currentconfig`;
export const NODE_ANNOTATIONS = `${STATE_DIRECTORY}/node-annotations.json`;
export const FORCE_FILE = '/run/machine-config-daemon-force';
export const ENCAPSULATED = '/etc/ignition-machine-config-encapsulated.json';

/** What the OS had at a path before a config replaced it, and the paths where it had nothing. */
export const ORIGINALS = `${STATE_DIRECTORY}/orig`;
export const NO_ORIGINALS = `${STATE_DIRECTORY}/noorig`;

/** The state of an update in progress. Absent between updates. */
export const UPDATE_DIRECTORY = `${STATE_DIRECTORY}/update`;

/** Null if the file is missing or this version cannot read it. */
export async function readStateFile<T>(
  files: FileSystem,
  path: string,
  codec: StateFileCodec<T>,
  maxBytes: number,
): Promise<T | null> {
  const found = await files.lookAt(path);
  if (found?.kind !== 'file' || found.size > maxBytes) return null;
  const decoded = codec.decode(await files.read(path, maxBytes));
  return decoded.ok ? decoded.value : null;
}

export async function writeStateFile(files: FileSystem, path: string, text: string): Promise<void> {
  if ((await files.lookAt(STATE_DIRECTORY)) === null) {
    await files.makeDirectory(STATE_DIRECTORY, { ...ownOwners(), mode: 0o755 });
    await files.syncDirectory('/etc');
  }
  await replaceFile(files, path, { ...ownOwners(), mode: 0o600, bytes: new TextEncoder().encode(text) });
}
