// Carries a move out, or takes it back. Both need no space, and doing either again changes nothing.
import type { FileSystem } from '../host/file-system.ts';
import { isNoDirectory, kindAt } from './look.ts';
import { asideOf, type Drop, keptOf, type Move, type Put, temporaryOf } from './move.ts';

export async function carryOut(files: FileSystem, move: Move): Promise<void> {
  return move.kind === 'put' ? put(files, move) : drop(files, move);
}

export async function takeBack(files: FileSystem, move: Move): Promise<void> {
  return move.kind === 'put' ? takePutBack(files, move) : takeDropBack(files, move);
}

async function put(files: FileSystem, move: Put): Promise<void> {
  const temporary = temporaryOf(move);
  if (
    move.held === 'directory' &&
    (await isThere(files, temporary)) &&
    (await kindAt(files, move.path)) === 'directory'
  ) {
    await files.rename(move.path, asideOf(move));
  }
  try {
    await files.rename(temporary, move.path);
  } catch (error) {
    // It was done before. To look first would cost as much again, for every file of every update.
    if (!isNoDirectory(error)) throw error;
  }
}

async function drop(files: FileSystem, move: Drop): Promise<void> {
  const kind = await kindAt(files, move.path);
  if (move.held === 'entry') {
    if (kind === 'file' || kind === 'link') await files.remove(move.path);
    return;
  }
  // Renamed, not removed: to make it again on the way back would need space.
  if (kind === 'directory' && (await files.list(move.path)).length === 0) {
    await moveAside(files, move);
  }
}

/** That nothing is left in it is on the disk first: else a power cut could bring its contents back under the other name. */
async function moveAside(files: FileSystem, move: Move): Promise<void> {
  await files.syncDirectory(move.path);
  await files.rename(move.path, asideOf(move));
}

async function takePutBack(files: FileSystem, move: Put): Promise<void> {
  const temporary = temporaryOf(move);
  const isOut = !(await isThere(files, temporary));
  if (isOut && move.held !== 'entry') await clear(files, move, temporary);
  if (move.held === 'nothing') return;
  if (move.held === 'directory') return restore(files, asideOf(move), move.path);
  if (isOut) await restoreKept(files, move);
}

/** Away with what the move brought. A directory may have got contents since: it is moved, with them. */
async function clear(files: FileSystem, { path, what }: Put, temporary: string): Promise<void> {
  const kind = await kindAt(files, path);
  if (what === 'directory') {
    if (kind === 'directory') await files.rename(path, temporary);
  } else if (kind === 'file' || kind === 'link') await files.remove(path);
}

async function takeDropBack(files: FileSystem, move: Drop): Promise<void> {
  if (move.held === 'directory') return restore(files, asideOf(move), move.path);
  return restoreKept(files, move);
}

async function restoreKept(files: FileSystem, move: Move): Promise<void> {
  await restore(files, keptOf(move), move.path);
  await restore(files, asideOf(move), move.path);
}

/** Where both are names of the same file still, both stay. */
async function restore(files: FileSystem, kept: string, path: string): Promise<void> {
  if (await isThere(files, kept)) await files.rename(kept, path);
}

async function isThere(files: FileSystem, path: string): Promise<boolean> {
  return (await kindAt(files, path)) !== undefined;
}
