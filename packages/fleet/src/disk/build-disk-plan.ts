// The files, directories, links, users and units that the Ignition client writes for a config.
import { decodeDataUrl, gunzip, maskUrl } from '@slipway/ignition';
import { FleetError } from '../errors.ts';
import type { File, RenderedIgnition } from '../render/ignition.ts';
import {
  DEFAULT_DIRECTORY_MODE,
  DEFAULT_FILE_MODE,
  type DiskDirectory,
  type DiskEntry,
  type DiskFile,
  type DiskGroup,
  type DiskHardLink,
  type DiskLink,
  type DiskPlan,
  type DiskUser,
  type Owner,
  type Preset,
  type SshKeys,
  UNIT_DIRECTORY,
} from './disk-plan.ts';

type Storage = NonNullable<RenderedIgnition['storage']>;
type Directory = NonNullable<Storage['directories']>[number];
type Link = NonNullable<Storage['links']>[number];
type Resource = NonNullable<File['contents']>;

const ROOT: Owner = { id: 0 };

/** Spec 3.5 does not set setuid, setgid and sticky bits. */
const PERMISSION_BITS = 0o777;
/** Far more than a rendered config can contain, but configs are untrusted input and need a limit. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

async function toDiskFile(file: File): Promise<DiskFile> {
  const { path, contents, append = [], mode = DEFAULT_FILE_MODE } = file;
  const parts: Uint8Array[] = [];
  for (const resource of contents === undefined ? append : [contents, ...append]) {
    parts.push(await decodeContents(path, resource));
  }
  return {
    kind: 'file',
    path,
    mode: mode & PERMISSION_BITS,
    ...toOwners(file),
    bytes: concat(parts),
    keepsExisting: contents?.source === undefined,
    of: 'file',
  };
}

function toDiskDirectory(directory: Directory): DiskDirectory {
  const { path, mode = DEFAULT_DIRECTORY_MODE, overwrite = false } = directory;
  return {
    kind: 'directory',
    path,
    mode: mode & PERMISSION_BITS,
    ...toOwners(directory),
    keepsExisting: !overwrite,
  };
}

function toDiskLink(link: Link): DiskLink | DiskHardLink {
  const { path, target = '' } = link;
  if (link.hard === true) return { kind: 'hard link', path, target };
  return { kind: 'link', path, target, ...toOwners(link), of: 'link' };
}

function toOwners({ user, group }: Pick<Directory, 'user' | 'group'>): { user: Owner; group: Owner } {
  return { user: toOwner(user), group: toOwner(group) };
}

function toOwner(owner: Directory['user']): Owner {
  if (owner?.id !== undefined) return { id: owner.id };
  return owner?.name === undefined || owner.name === '' ? ROOT : { name: owner.name };
}

async function decodeContents(path: string, { source = '', compression = '' }: Resource): Promise<Uint8Array> {
  if (source === '') return new Uint8Array();
  if (!source.startsWith('data:')) {
    throw unreadable(
      path,
      `expected inline contents, found a reference to ${maskUrl(source)}; resolve the config first`,
    );
  }
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) throw unreadable(path, `the data URL of its contents is invalid: ${decoded.problem}`);
  if (compression === '') return decoded.bytes;
  const unpacked = await gunzip(decoded.bytes, { maxBytes: MAX_FILE_BYTES });
  if (!unpacked.ok) throw unreadable(path, `its contents cannot be decompressed: ${unpacked.problem}`);
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

type Passwd = NonNullable<RenderedIgnition['passwd']>;
type User = NonNullable<Passwd['users']>[number];
type Group = NonNullable<Passwd['groups']>[number];

function toDiskUser(user: User): DiskUser {
  const { name, groups = [], shouldExist = true, sshAuthorizedKeys = [] } = user;
  const { uid, gecos, homeDir, shell, primaryGroup } = user;
  return {
    name,
    shouldExist,
    groups,
    ...present({ uid, gecos, homeDir, shell, primaryGroup, passwordHash: toShadowField(user.passwordHash) }),
    ...(sshAuthorizedKeys.length === 0 ? {} : { sshKeys: toSshKeys(sshAuthorizedKeys) }),
  };
}

function toDiskGroup({ name, gid, passwordHash, shouldExist = true }: Group): DiskGroup {
  return { name, shouldExist, ...present({ gid, passwordHash: toShadowField(passwordHash) }) };
}

/** No password is not an empty password: it must not allow a login. */
function toShadowField(passwordHash: string | undefined): string | undefined {
  return passwordHash === '' ? '*' : passwordHash;
}

function toSshKeys(keys: readonly string[]): SshKeys {
  const text = keys.join('\n');
  return {
    paths: ['.ssh/authorized_keys.d/ignition', '.ssh/authorized_keys'],
    mode: 0o600,
    bytes: new TextEncoder().encode(text.endsWith('\n') ? text : `${text}\n`),
  };
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

// Systemd units as files, drop-ins, masks and presets.

type Unit = NonNullable<NonNullable<RenderedIgnition['systemd']>['units']>[number];

/**
 * A mask replaces the file of a unit; its drop-ins stay. Empty contents mean no unit file, but an empty drop-in, which
 * hides one of the OS with the same name.
 */
function unitEntries(unit: Unit): (DiskFile | DiskLink)[] {
  const path = toUnitPath(unit);
  const entries: (DiskFile | DiskLink)[] = (unit.dropins ?? [])
    .filter(({ contents }) => contents !== undefined)
    .map(({ name, contents = '' }) => textFile(`${path}.d/${name}`, contents, 'drop-in'));
  if (unit.mask === true) {
    entries.push({ kind: 'link', path, target: '/dev/null', user: ROOT, group: ROOT, of: 'mask' });
  } else if (unit.contents !== undefined && unit.contents !== '') entries.push(textFile(path, unit.contents, 'unit'));
  return entries;
}

function listUnmasked(units: readonly Unit[]): string[] {
  return units.filter((unit) => unit.mask === false).map(toUnitPath);
}

/** One line per unit; instances of one template share a line. */
function buildPresets(units: readonly Unit[]): Preset[] {
  const presets = new Map<string, { action: Preset['action']; unit: string; instances: string[] }>();
  for (const { name, enabled } of units) {
    if (enabled === undefined) continue;
    const action = enabled ? 'enable' : 'disable';
    const { unit, instance } = splitInstance(name);
    const preset = presets.get(`${action} ${unit}`) ?? { action, unit, instances: [] };
    presets.set(`${action} ${unit}`, preset);
    if (instance !== null) preset.instances.push(instance);
  }
  return [...presets.values()].map(({ action, unit, instances }) => {
    return { action, unit, instances, line: [action, unit, ...instances].join(' ') };
  });
}

/** echo@one.service is the instance `one` of echo@.service. */
function splitInstance(name: string): { unit: string; instance: string | null } {
  const at = name.indexOf('@');
  const dot = name.lastIndexOf('.');
  if (at < 0 || dot < at) return { unit: name, instance: null };
  return { unit: name.slice(0, at + 1) + name.slice(dot), instance: name.slice(at + 1, dot) };
}

function toUnitPath({ name }: Unit): string {
  return `${UNIT_DIRECTORY}/${name}`;
}

function textFile(path: string, text: string, of: 'unit' | 'drop-in'): DiskFile {
  const bytes = new TextEncoder().encode(text);
  return { kind: 'file', path, mode: DEFAULT_FILE_MODE, user: ROOT, group: ROOT, bytes, keepsExisting: false, of };
}

/** Throws a FleetError if contents are remote or invalid; a rendered config has all of them inline. */
export async function buildDiskPlan(config: RenderedIgnition): Promise<DiskPlan> {
  const { users = [], groups = [] } = config.passwd ?? {};
  const { shouldExist = [], shouldNotExist = [] } = config.kernelArguments ?? {};
  const units = config.systemd?.units ?? [];
  return {
    entries: [...(await storageEntries(config.storage)), ...units.flatMap(unitEntries)].sort(byPath),
    presets: buildPresets(units),
    unmasked: listUnmasked(units),
    users: users.map(toDiskUser),
    groups: groups.map(toDiskGroup),
    kernelArguments: { shouldExist, shouldNotExist },
  };
}

async function storageEntries(storage: RenderedIgnition['storage']): Promise<DiskEntry[]> {
  const { files = [], directories = [], links = [] } = storage ?? {};
  const entries: DiskEntry[] = [...directories.map(toDiskDirectory), ...links.map(toDiskLink)];
  for (const file of files) entries.push(await toDiskFile(file));
  return entries;
}

function byPath(a: DiskEntry, b: DiskEntry): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}
