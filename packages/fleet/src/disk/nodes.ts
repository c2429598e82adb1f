// Files, directories and links as they end up on the disk.
import { decodeDataUrl, gunzip, maskUrl } from '@slipway/ignition';
import { FleetError } from '../errors.ts';
import type { File, RenderedIgnition } from '../render/ignition.ts';
import {
  DEFAULT_DIRECTORY_MODE,
  DEFAULT_FILE_MODE,
  type DiskDirectory,
  type DiskFile,
  type DiskHardLink,
  type DiskLink,
  type Owner,
} from './disk-plan.ts';

type Storage = NonNullable<RenderedIgnition['storage']>;
type Directory = NonNullable<Storage['directories']>[number];
type Link = NonNullable<Storage['links']>[number];
type Resource = NonNullable<File['contents']>;

export const ROOT: Owner = { id: 0 };

/** Spec 3.5 sets no setuid, setgid and sticky bits. */
const PERMISSION_BITS = 0o777;
/** Far above what a rendered config can hold; a bound all the same, since configs come from outside. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export async function fileOf(file: File): Promise<DiskFile> {
  const { path, contents, append = [], mode = DEFAULT_FILE_MODE } = file;
  const parts: Uint8Array[] = [];
  for (const resource of contents === undefined ? append : [contents, ...append]) {
    parts.push(await bytesOf(path, resource));
  }
  return {
    kind: 'file',
    path,
    mode: mode & PERMISSION_BITS,
    ...ownersOf(file),
    bytes: concat(parts),
    keepsExisting: contents?.source === undefined,
    of: 'file',
  };
}

export function directoryOf(directory: Directory): DiskDirectory {
  const { path, mode = DEFAULT_DIRECTORY_MODE, overwrite = false } = directory;
  return {
    kind: 'directory',
    path,
    mode: mode & PERMISSION_BITS,
    ...ownersOf(directory),
    keepsExisting: !overwrite,
  };
}

export function linkOf(link: Link): DiskLink | DiskHardLink {
  const { path, target = '' } = link;
  if (link.hard === true) return { kind: 'hard link', path, target };
  return { kind: 'link', path, target, ...ownersOf(link), of: 'link' };
}

function ownersOf({ user, group }: Pick<Directory, 'user' | 'group'>): { user: Owner; group: Owner } {
  return { user: ownerOf(user), group: ownerOf(group) };
}

function ownerOf(owner: Directory['user']): Owner {
  if (owner?.id !== undefined) return { id: owner.id };
  return owner?.name === undefined || owner.name === '' ? ROOT : { name: owner.name };
}

async function bytesOf(path: string, { source = '', compression = '' }: Resource): Promise<Uint8Array> {
  if (source === '') return new Uint8Array();
  if (!source.startsWith('data:')) {
    throw unreadable(path, `its contents are at ${maskUrl(source)} and not in the config; resolve the config first`);
  }
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) throw unreadable(path, `its data URL cannot be read: ${decoded.problem}`);
  if (compression === '') return decoded.bytes;
  const unpacked = await gunzip(decoded.bytes, { maxBytes: MAX_FILE_BYTES });
  if (!unpacked.ok) throw unreadable(path, `its contents cannot be unpacked: ${unpacked.problem}`);
  return unpacked.bytes;
}

function unreadable(path: string, problem: string): FleetError {
  return new FleetError('SLW_DISK_CONTENTS', `file ${path.slice(0, 200)}: ${problem}`);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
