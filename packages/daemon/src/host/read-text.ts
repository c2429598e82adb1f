import { posix } from 'node:path';
import type { FileSystem } from './file-system.ts';

const MOST_LINKS = 8;

/** The path that a file has once the links at its own name are followed; undefined: they lead nowhere, or in a circle. */
export async function followLinks(files: FileSystem, path: string): Promise<string | undefined> {
  let at = path;
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const found = await files.lookAt(at);
    if (found?.kind !== 'link') return found === null ? undefined : at;
    at = posix.resolve(posix.dirname(at), found.target);
  }
  return undefined;
}

/** A text file of the machine, links followed; undefined: there is none. Rejects if it is longer than the limit. */
export async function readText(files: FileSystem, path: string, limit: number): Promise<string | undefined> {
  const at = await followLinks(files, path);
  if (at === undefined) return undefined;
  const found = await files.lookAt(at);
  if (found?.kind !== 'file') return undefined;
  return Buffer.from(await files.read(at, limit)).toString('utf8');
}
