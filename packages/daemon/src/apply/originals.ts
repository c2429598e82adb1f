// What the OS had at a path before a config put something there, kept for as long as a config has that path. Files and names
// are those that users know.
import type { FileSystem } from '../host/file-system.ts';
import { NO_ORIGINALS, ORIGINALS } from '../node-paths.ts';

/** `unknown`: it was the first boot that put the config's file there, and nobody took note. */
export type Original = { readonly at: string } | 'nothing' | 'unknown';

export function originalPath(path: string): string {
  return `${ORIGINALS}${path}.mcdorig`;
}

/** An empty file: there was nothing. */
export function noOriginalPath(path: string): string {
  return `${NO_ORIGINALS}${path}.mcdnoorig`;
}

export async function findOriginal(files: FileSystem, path: string): Promise<Original> {
  const kept = originalPath(path);
  if (await isThere(files, kept)) return { at: kept };
  if ((await files.lookAt(noOriginalPath(path))) !== null) return 'nothing';
  const ofImage = inImage(path);
  return ofImage !== null && (await isThere(files, ofImage)) ? { at: ofImage } : 'unknown';
}

async function isThere(files: FileSystem, path: string): Promise<boolean> {
  const found = await files.lookAt(path);
  return found?.kind === 'file' || found?.kind === 'link';
}

/** Hosts built with ostree keep the image's own /etc, untouched, below /usr. */
function inImage(path: string): string | null {
  return path.startsWith('/etc/') ? `/usr${path}` : null;
}
