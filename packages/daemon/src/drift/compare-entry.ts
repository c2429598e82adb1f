// A path of the config against what is there.
import type { DesiredDirectory, DesiredEntry, DesiredFile } from '../desired-machine.ts';
import type { Found, Owners } from '../host/file-system.ts';
import { type Drift, type DriftKind, shown } from './drift.ts';

/** What was found at the path of an entry. */
export interface EntryFacts {
  readonly found: Found | null;
  /** Of a file: whether it has the bytes of the config; at its end, where what is before is not the config's. */
  readonly hasContents: boolean;
  /** The owners that the entry should have, as numbers; null where the config leaves them. */
  readonly owners: { readonly uid: number | null; readonly gid: number | null };
  /** Of a hard link: which file it is a name of. */
  readonly targetInode: number | null;
}

/** As much of it as is compared. */
export type ComparedEntry = Exclude<DesiredEntry, DesiredFile> | ComparedFile;
export type ComparedFile = Omit<DesiredFile, 'bytes' | 'of'>;

/** Without the diff, which costs a second look. */
export type Difference = Omit<Drift, 'diff'>;

export function compareEntry(entry: ComparedEntry, facts: EntryFacts): Difference[] {
  const { found } = facts;
  if (found === null) return [isMissing(entry)];
  switch (entry.kind) {
    case 'file':
      return found.kind === 'file' ? compareFile(entry, found, facts) : [isOther(entry, 'file', found)];
    case 'directory':
      if (found.kind !== 'directory') return [isOther(entry, 'directory', found)];
      return [...compareMode(entry, found.mode), ...compareOwners(entry, found, facts)];
    case 'link':
      if (found.kind !== 'link') return [isOther(entry, 'link', found)];
      return [...compareTarget(entry, found.target), ...compareOwners(entry, found, facts)];
    case 'hard link':
      return compareHardLink(entry, found, facts);
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

function compareFile(entry: ComparedFile, found: Extract<Found, { kind: 'file' }>, facts: EntryFacts): Difference[] {
  const rights = [...compareMode(entry, found.mode), ...compareOwners(entry, found, facts)];
  if (facts.hasContents) return rights;
  const { size } = entry.contents;
  const text = entry.keepsExisting
    ? `expected the config's ${size} bytes at its end, found others among ${found.size} bytes`
    : `expected contents of ${size} bytes, found other contents of ${found.size} bytes`;
  return [differ('file', entry, text, !entry.keepsExisting), ...rights];
}

function compareMode(entry: ComparedFile | DesiredDirectory, found: number): Difference[] {
  if (entry.leaves.has('mode') || entry.mode === found) return [];
  return [differ('permission', entry, `expected mode ${octal(entry.mode)}, found ${octal(found)}`)];
}

function compareOwners(
  entry: { path: string; kind: string },
  { uid, gid }: Owners,
  { owners }: EntryFacts,
): Difference[] {
  const [user, group] = [owners.uid ?? uid, owners.gid ?? gid];
  if (user === uid && group === gid) return [];
  return [differ('owner', entry, `expected owner ${user}:${group}, found ${uid}:${gid}`)];
}

function compareTarget(entry: Extract<ComparedEntry, { kind: 'link' }>, found: string): Difference[] {
  if (entry.target === found) return [];
  return [differ('link', entry, `expected it to lead to ${shown(entry.target)}, found ${shown(found)}`)];
}

function compareHardLink(
  entry: Extract<ComparedEntry, { kind: 'hard link' }>,
  found: Found,
  { targetInode }: EntryFacts,
): Difference[] {
  if (found.kind === 'file' && found.inode === targetInode) return [];
  return [
    differ('link', entry, `expected a second name of ${shown(entry.target)}, found ${describe(found)} of its own`),
  ];
}

/** The part before the config's own bytes came with the OS: nobody here knows it. */
function isMissing(entry: ComparedEntry): Difference {
  const canHeal = entry.kind !== 'file' || !entry.keepsExisting;
  return differ('missing', entry, `expected a ${entry.kind}, found nothing`, canHeal);
}

function isOther(entry: ComparedEntry, kind: DriftKind, found: Found): Difference {
  const canHeal = entry.kind !== 'file' || !entry.keepsExisting;
  return differ(kind, entry, `expected a ${entry.kind}, found ${describe(found)}`, canHeal);
}

function describe(found: Found): string {
  if (found.kind === 'other') return 'a device, a socket or a pipe';
  return found.kind === 'link' ? `a link to ${shown(found.target)}` : `a ${found.kind}`;
}

function differ(kind: DriftKind, entry: { path: string; kind: string }, text: string, canHeal = true): Difference {
  return { kind, name: entry.path, message: `${entry.kind} ${shown(entry.path)}: ${text}`, canHeal };
}
