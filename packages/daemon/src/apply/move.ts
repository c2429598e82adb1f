// One thing that changes on the disk, so that it can be done again and undone without needing space: what comes is made
// ready beside its place, what goes has a second name.
import { posix } from 'node:path';
import { UPDATE_DIRECTORY } from '../node-paths.ts';

export type Move = Put | Drop;

interface At {
  /** Tells names of this move from those of others. */
  readonly number: number;
  readonly path: string;
}

export interface Put extends At {
  readonly kind: 'put';
  readonly what: 'entry' | 'directory';
  /** Where it was made ready: beside its place, unless that is in a directory which is itself only made ready. */
  readonly stagedAt: string;
  /** What the machine had there: a file or a link, or a directory in which nothing is left by then. */
  readonly held: 'nothing' | 'entry' | 'directory';
}

/** A directory goes only if nothing is left in it. */
export interface Drop extends At {
  readonly kind: 'drop';
  readonly held: 'entry' | 'directory';
}

/** In the directory of the place itself: there a file gets the type that the policy of the host has for new ones. */
export function temporaryOf({ path, number }: At): string {
  return posix.join(posix.dirname(path), `.slipway-new-${number}`);
}

export const KEPT_DIRECTORY = `${UPDATE_DIRECTORY}/old`;

/** The second name of what was there. */
export function keptOf({ number }: At): string {
  return `${KEPT_DIRECTORY}/${number}`;
}

/** The same, for directories and for what is on another file system than the daemon's own directory. */
export function asideOf({ path, number }: At): string {
  return posix.join(posix.dirname(path), `.slipway-old-${number}`);
}
