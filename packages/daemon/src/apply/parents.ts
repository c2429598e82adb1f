// The directories that things to come belong in: those that are there, those to be made, and those that a file still stands
// in the place of. The latter are made ready beside it, with all that belongs in them, and take its place in one rename.
import { posix } from 'node:path';
import { DaemonError } from '../errors.ts';
import type { FileSystem, Owners } from '../host/file-system.ts';
import { type Put, temporaryOf } from './move.ts';

export interface NewDirectory extends Owners {
  readonly path: string;
  readonly mode: number;
}

export interface Parents {
  /** Where what belongs in a directory can be made ready: there, or where the directory itself is. */
  placeFor(directory: string, making: Omit<NewDirectory, 'path'>): Promise<string>;
  /** From the top down. */
  readonly made: readonly NewDirectory[];
}

interface ParentsOptions {
  readonly files: FileSystem;
  /** Whether a file or link at the path goes before anything comes. */
  readonly isDropped: (path: string) => boolean;
  /** Registers the move that brings a directory to the place of what goes. */
  readonly replace: (path: string) => Put;
}

const MOST_LINKS = 40;

export function createParents({ files, isDropped, replace }: ParentsOptions): Parents {
  const places = new Map<string, string>();
  const made: NewDirectory[] = [];

  async function placeFor(directory: string, making: Omit<NewDirectory, 'path'>, links = 0): Promise<string> {
    const known = places.get(directory);
    if (known !== undefined) return known;
    const place = directory === '/' ? '/' : await find(directory, making, links);
    places.set(directory, place);
    return place;
  }

  async function find(directory: string, making: Omit<NewDirectory, 'path'>, links: number): Promise<string> {
    const above = posix.dirname(directory);
    const placeAbove = await placeFor(above, making, links);
    const place = posix.join(placeAbove, posix.basename(directory));
    if (placeAbove !== above) return make(place, making);
    const found = await files.lookAt(directory);
    if (found === null) return make(place, making);
    if (found.kind === 'directory') return place;
    if (isDropped(directory)) return make(temporaryOf(replace(directory)), making);
    if (found.kind !== 'link') throw inTheWay(directory);
    if (links >= MOST_LINKS)
      throw new DaemonError('SLW_DAEMON_PATH', `${directory} leads in a ring of links: break it`);
    await placeFor(posix.resolve(above, found.target), making, links + 1);
    return place;
  }

  function make(path: string, making: Omit<NewDirectory, 'path'>): string {
    made.push({ ...making, path });
    return path;
  }

  return { placeFor, made };
}

function inTheWay(directory: string): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_PREFLIGHT',
    `expected ${directory} to be a directory, found a file that is not the config’s: remove it from the machine, or choose another path`,
  );
}
