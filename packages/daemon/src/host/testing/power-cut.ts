// The possible contents of a disk after a power cut: everything synced, and any part of the rest. Names and contents
// reach the disk separately, in any order. A rename is atomic.
import { copyImage, hashDiskImage, type DiskImage, type Inode } from './disk-image.ts';
import { setNames, type Note } from './memory-disk.ts';

/** How much of unsynced contents, modes and owners is kept. */
type Unsynced = 'all' | 'half' | 'none';

export interface CutOptions {
  /**
   * `few`: all or none of the unsynced names. `many`: also each one alone kept or lost, and all but the first or last
   * n.
   */
  readonly subsets: 'few' | 'many';
}

export interface Cut {
  /** The number of notes before the cut. */
  readonly at: number;
  readonly disk: DiskImage;
}

/** Every distinct disk once, however many cuts lead to it. */
export function* disksAfterCuts(before: DiskImage, notes: readonly Note[], { subsets }: CutOptions): Generator<Cut> {
  const seen = new Set<string>();
  const pending = new Set<number>();
  for (let at = 0; at <= notes.length; at += 1) {
    if (at > 0) keepTrack(pending, notes, at - 1);
    for (const lost of losses(pending, notes, subsets)) {
      const disk = diskWithout(before, notes.slice(0, at), lost);
      const digest = hashDiskImage(disk);
      if (seen.has(digest)) continue;
      seen.add(digest);
      yield { at, disk };
    }
  }
}

/** Updates which notes may still be lost after the note at `index`. */
function keepTrack(pending: Set<number>, notes: readonly Note[], index: number): void {
  const note = notes[index];
  if (note?.kind !== 'sync') return void pending.add(index);
  for (const each of pending) {
    if (isCovered(notes[each], note.number)) pending.delete(each);
  }
}

function isCovered(note: Note | undefined, synced: number): boolean {
  if (note?.kind === 'inode') return note.number === synced;
  return note?.kind === 'names' && note.set.some(({ directory }) => directory === synced);
}

interface Loss {
  readonly names: ReadonlySet<number>;
  readonly inodes: ReadonlySet<number>;
  readonly unsynced: Unsynced;
}

function* losses(
  pending: ReadonlySet<number>,
  notes: readonly Note[],
  subsets: CutOptions['subsets'],
): Generator<Loss> {
  const names = [...pending].filter((index) => notes[index]?.kind === 'names');
  const inodes = new Set([...pending].filter((index) => notes[index]?.kind === 'inode'));
  const lostNames = subsets === 'few' ? [[], names] : [...manySubsets(names)];
  for (const lost of lostNames) {
    for (const unsynced of inodes.size === 0 ? (['all'] as const) : (['all', 'half', 'none'] as const))
      yield { names: new Set(lost), inodes, unsynced };
  }
}

function* manySubsets(all: readonly number[]): Generator<number[]> {
  yield [];
  yield [...all];
  for (const [place, one] of all.entries()) {
    yield [one];
    yield all.filter((each) => each !== one);
    yield all.slice(place);
    yield all.slice(0, place);
  }
}

function diskWithout(before: DiskImage, notes: readonly Note[], loss: Loss): DiskImage {
  const disk = copyImage(before);
  for (const [index, note] of notes.entries()) {
    if (note.kind === 'names' && !loss.names.has(index)) setNames(disk, note.set);
    if (note.kind === 'inode') setInode(disk, note, loss.inodes.has(index) ? loss.unsynced : 'all');
  }
  return disk;
}

function setInode({ inodes }: DiskImage, note: Extract<Note, { kind: 'inode' }>, unsynced: Unsynced): void {
  const { number, before, after } = note;
  // A new inode exists if its name does; only its contents may be missing.
  if (before === null) inodes.set(number, unsynced === 'all' ? after : withLessBytes(after, unsynced));
  else if (unsynced !== 'none') inodes.set(number, keepNames(inodes.get(number), halfChanged(before, after, unsynced)));
}

function withLessBytes(inode: Inode, unsynced: 'half' | 'none'): Inode {
  if (inode.kind !== 'file') return inode;
  return { ...inode, bytes: inode.bytes.subarray(0, unsynced === 'half' ? inode.bytes.length >> 1 : 0) };
}

/** Names of a directory have separate notes. */
function keepNames(there: Inode | undefined, inode: Inode): Inode {
  return there?.kind === 'directory' && inode.kind === 'directory' ? { ...inode, names: there.names } : inode;
}

function halfChanged(before: Inode, after: Inode, unsynced: 'all' | 'half'): Inode {
  if (unsynced === 'all' || before.kind !== 'file' || after.kind !== 'file') return after;
  const old = before.bytes;
  const first = after.bytes.findIndex((byte, index) => byte !== old[index]);
  if (first === -1) return after;
  const last = after.bytes.findLastIndex((byte, index) => byte !== old[index]);
  const middle = first + ((last - first + 1) >> 1);
  const bytes = new Uint8Array(after.bytes);
  bytes.set(old.subarray(middle, last + 1), middle);
  return { ...after, bytes };
}
