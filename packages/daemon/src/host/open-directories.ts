// Directories that are kept open while many paths in them are used in a row, which takes half the time of an update. Each use
// asks again whether the path still leads there, and none stays open when the program has come to rest.
import { closeSync, fstatSync, statSync } from 'node:fs';
import { systemErrorCode } from './system-error.ts';

interface Kept {
  readonly handle: number;
  readonly dev: number;
  readonly ino: number;
}

/** More are opened and closed each time. */
const MOST = 64;

export interface OpenDirectories {
  /** undefined: not open, or the path leads elsewhere by now. */
  find(path: string): number | undefined;
  /** False: it is the caller's to close. */
  keep(path: string, handle: number): boolean;
}

export function createOpenDirectories(root: string): OpenDirectories {
  const kept = new Map<string, Kept>();

  function closeAll(): void {
    for (const { handle } of kept.values()) closeSync(handle);
    kept.clear();
  }

  return {
    find(path) {
      const known = kept.get(path);
      return known !== undefined && leadsTo(`${root}/${path}`, known) ? known.handle : undefined;
    },
    keep(path, handle) {
      // One that leads elsewhere by now may be in use this moment, so it stays until all are closed.
      if (kept.size >= MOST || kept.has(path)) return false;
      if (kept.size === 0) setImmediate(closeAll);
      const { dev, ino } = fstatSync(handle);
      kept.set(path, { handle, dev, ino });
      return true;
    },
  };
}

/** Links are followed from this machine's root here: where that is not the root of the other, the answer is no. */
function leadsTo(place: string, { dev, ino }: Kept): boolean {
  try {
    const found = statSync(place, { throwIfNoEntry: false });
    return found !== undefined && found.dev === dev && found.ino === ino;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}
