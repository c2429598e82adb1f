// A disk as plain data: inodes, and directories that name them. Cheap to copy, so that tests can try thousands.
import { createHash } from 'node:crypto';
import type { Owners } from '../file-system.ts';

export type Inode = Owners &
  (
    | { readonly kind: 'file'; readonly mode: number; readonly bytes: Uint8Array; readonly changed: number }
    | { readonly kind: 'directory'; readonly mode: number; readonly names: ReadonlyMap<string, number> }
    | { readonly kind: 'link'; readonly target: string }
  );

/** Inodes are immutable, so that copies can share them. */
export interface DiskImage {
  readonly inodes: Map<number, Inode>;
}

export const ROOT = 1;

export function emptyImage(owners: Owners): DiskImage {
  return { inodes: new Map([[ROOT, { kind: 'directory', mode: 0o755, names: new Map(), ...owners }]]) };
}

export function copyImage({ inodes }: DiskImage): DiskImage {
  return { inodes: new Map(inodes) };
}

/** Equal for two disks with the same paths, including hard links. */
export function hashDiskImage(image: DiskImage): string {
  const lines: string[] = [];
  const met = new Map<number, number>();
  const visit = (path: string, number: number): void => {
    const inode = image.inodes.get(number);
    if (inode === undefined) throw new Error(`${path} names inode ${number}, which is not on the disk`);
    if (!met.has(number)) met.set(number, met.size);
    lines.push(`${path}\0${met.get(number)}\0${describe(inode)}`);
    if (inode.kind !== 'directory') return;
    for (const name of [...inode.names.keys()].toSorted()) visit(`${path}/${name}`, inode.names.get(name) ?? 0);
  };
  visit('', ROOT);
  return hashData(lines.join('\n'));
}

/** Most files are the same on thousands of disks. */
const contents = new WeakMap<Uint8Array, string>();

function describe(inode: Inode): string {
  const owner = `${inode.kind}\0${inode.uid}\0${inode.gid}`;
  if (inode.kind === 'link') return `${owner}\0${inode.target}`;
  if (inode.kind === 'directory') return `${owner}\0${inode.mode}`;
  const known = contents.get(inode.bytes) ?? hashData(inode.bytes);
  contents.set(inode.bytes, known);
  return `${owner}\0${inode.mode}\0${known}`;
}

function hashData(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('base64');
}
