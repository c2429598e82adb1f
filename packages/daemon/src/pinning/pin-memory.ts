// What this machine has pinned, whatever the cluster says: on its disk, whole after any crash.
import type { FileSystem } from '../host/file-system.ts';
import { removeUnfinished } from '../host/replace-file.ts';
import { STATE_DIRECTORY } from '../node-paths.ts';
import { writeStateFile } from '../state-file.ts';
import type { WantedSet } from './wanted-set.ts';

export interface PinMemory {
  /** The container runtime has been seen to keep them. */
  readonly pinned: readonly WantedSet[];
  /** Being put in place of those; null: nothing is under way. */
  readonly next: readonly WantedSet[] | null;
}

const PATH = `${STATE_DIRECTORY}/pinned-images.json`;
/** A hundred sets of 500 images with long names. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Null: this machine has never pinned anything, or nobody knows any more. */
export async function readPinMemory(files: FileSystem): Promise<PinMemory | null> {
  if ((await files.lookAt(PATH)) === null) return null;
  try {
    return parse(JSON.parse(new TextDecoder().decode(await files.read(PATH, MOST_BYTES))));
  } catch {
    return null;
  }
}

export const writePinMemory = (files: FileSystem, { pinned, next }: PinMemory): Promise<void> =>
  writeStateFile(files, PATH, JSON.stringify({ pinned, ...(next !== null && { next }) }));

export async function removePinMemory(files: FileSystem): Promise<void> {
  await removeUnfinished(files, PATH);
  if ((await files.lookAt(PATH)) === null) return;
  await files.remove(PATH);
  await files.syncDirectory(STATE_DIRECTORY);
}

function parse(json: unknown): PinMemory | null {
  if (!isRecord(json)) return null;
  const { pinned, next = null } = json;
  return isSets(pinned) && (next === null || isSets(next)) ? { pinned, next } : null;
}

const isSets = (value: unknown): value is WantedSet[] => Array.isArray(value) && value.every(isSet);

const isSet = (value: unknown): value is WantedSet =>
  isRecord(value) &&
  typeof value.name === 'string' &&
  typeof value.uid === 'string' &&
  typeof value.generation === 'number' &&
  Array.isArray(value.images) &&
  value.images.every((image) => typeof image === 'string');

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
