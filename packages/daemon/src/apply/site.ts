// A machine while it is looked at for an update, and what is noted on the way.
import { posix } from 'node:path';
import type { DesiredMachine } from '../desired-machine.ts';
import type { FileSystem, Owners } from '../host/file-system.ts';
import type { Accounts, Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import { type Drop, type Put, temporaryOf } from './move.ts';
import { createParents, type NewDirectory, type Parents } from './parents.ts';

/** How what is put somewhere is made. */
export type Make =
  | (Owners & { readonly kind: 'file'; readonly mode: number; readonly bytes: () => Promise<Uint8Array> })
  | (Owners & { readonly kind: 'link'; readonly target: string })
  /** A second name of what is, or is to be, at a path. */
  | { readonly kind: 'hard link'; readonly target: string }
  | { readonly kind: 'original'; readonly at: string }
  /** One of those that are made on the way. */
  | { readonly kind: 'directory' };

export interface SurveyedMove {
  readonly move: Put | Drop;
  /** Null for what goes. */
  readonly make: Make | null;
}

interface Notes {
  readonly moves: SurveyedMove[];
  /** Of paths that come into the config: whether the OS has something there. */
  readonly originals: { readonly path: string; readonly isThere: boolean }[];
  /** Files of originals that have no use once the update is done. */
  readonly endedOriginals: string[];
  oldPasswordHash: string | null;
}

export interface Survey extends Readonly<Notes> {
  readonly directories: readonly NewDirectory[];
  readonly problems: readonly Problem[];
}

export interface Site {
  readonly files: FileSystem;
  readonly accounts: Accounts;
  readonly desired: DesiredMachine;
  readonly notes: Notes;
  readonly parents: Parents;
  hasMove(path: string): boolean;
  isDropped(path: string): boolean;
  drop(path: string, held: Drop['held']): void;
  put(path: string, held: Put['held'], make: Make, place: string): void;
}

export function openSite({ files, accounts }: Pick<Host, 'files' | 'accounts'>, desired: DesiredMachine): Site {
  const notes: Notes = { moves: [], originals: [], endedOriginals: [], oldPasswordHash: null };
  const moved = new Map<string, 'put' | 'drop'>();

  function drop(path: string, held: Drop['held']): void {
    moved.set(path, 'drop');
    notes.moves.push({ move: { kind: 'drop', number: notes.moves.length, path, held }, make: null });
  }

  function put(path: string, held: Put['held'], make: Make, place: string): Put {
    const number = notes.moves.length;
    const what = make.kind === 'directory' ? 'directory' : 'entry';
    const stagedAt = posix.join(place, posix.basename(temporaryOf({ path, number })));
    const move: Put = { kind: 'put', number, path, what, stagedAt, held };
    moved.set(path, 'put');
    notes.moves.push({ move, make });
    return move;
  }

  const isDropped = (path: string): boolean => moved.get(path) === 'drop';
  const parents = createParents({
    files,
    isDropped,
    replace: (path) => put(path, 'nothing', { kind: 'directory' }, posix.dirname(path)),
  });
  return { files, accounts, desired, notes, parents, drop, put, isDropped, hasMove: (path) => moved.has(path) };
}
