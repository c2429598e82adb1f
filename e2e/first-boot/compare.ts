import { dirname } from 'node:path';
import { PRESET_PATH, UNIT_DIRECTORY } from '@slipway/fleet';
import type { DiskEntry, DiskFile, DiskHardLink, DiskPlan, DiskUser, Owner } from '@slipway/fleet';
import { readDisk, type Account, type Disk, type DiskEntry as Found } from './disk.ts';
import { baseFiles } from './empty-root.ts';

/**
 * How a booted machine's disk differs from our plan for its config, in both directions: what is planned and not there or
 * other than planned, and what is there and not planned. An empty list means that they are equal.
 */
export async function compareDisk(root: string, plan: DiskPlan): Promise<string[]> {
  const disk = await readDisk(root);
  return [
    ...plan.entries.flatMap((entry) => compareEntry(entry, disk)),
    ...comparePresets(plan, disk),
    ...plan.unmasked.filter((path) => disk.entries.get(path)?.target === '/dev/null').map((path) => `${path}: masked`),
    ...plan.users.flatMap((user) => compareUser(user, disk)),
    ...plan.groups.flatMap(({ name, gid, shouldExist }) => {
      const found = disk.groups.get(name);
      return differ(`group ${name}`, { exists: [found !== undefined, shouldExist], gid: [found, gid ?? found] });
    }),
    ...findUnplanned(plan, disk),
  ];
}

function compareEntry(entry: DiskEntry, disk: Disk): string[] {
  const found = disk.entries.get(entry.path);
  if (found === undefined) return [`${entry.path}: planned, and not on the disk`];
  if (entry.kind === 'hard link') return compareHardLink(entry, found, disk);
  const owners = {
    uid: [found.uid, findId(entry.user, 'user', disk)],
    gid: [found.gid, findId(entry.group, 'group', disk)],
  };
  const kind = { kind: [found.kind, entry.kind] };
  if (entry.kind === 'link') return differ(entry.path, { ...kind, ...owners, target: [found.target, entry.target] });
  const mode = { mode: [octal(found.mode), octal(entry.mode)] };
  if (entry.kind === 'directory') return differ(entry.path, { ...kind, ...owners, ...mode });
  return [...differ(entry.path, { ...kind, ...owners, ...mode }), ...compareBytes(entry, found)];
}

const compareHardLink = ({ path, target }: DiskHardLink, found: Found, disk: Disk): string[] =>
  differ(path, { inode: [found.inode, disk.entries.get(target)?.inode] });

/** Sizes and not contents: a difference is read by people, and files may be secret. */
function compareBytes({ path, bytes }: Pick<DiskFile, 'path' | 'bytes'>, found: Found): string[] {
  if (found.bytes.equals(bytes)) return [];
  return [`${path}: other contents than planned (${found.bytes.length} bytes, planned ${bytes.length})`];
}

function comparePresets({ presets }: DiskPlan, disk: Disk): string[] {
  const text = disk.entries.get(PRESET_PATH)?.bytes.toString() ?? '';
  const lines = text.split('\n').slice(0, -1);
  const planned = new Set(presets.map(({ line }) => line));
  // Clients from 2.24 on say `disable` only of what is enabled.
  const needed = presets.filter(({ action, unit }) => action === 'enable' || isEnabled(unit, disk));
  return [
    ...needed.filter(({ line }) => !lines.includes(line)).map(({ line }) => `${PRESET_PATH}: no line "${line}"`),
    ...lines.filter((line) => !planned.has(line)).map((line) => `${PRESET_PATH}: line "${line}" is not planned`),
    ...(new Set(lines).size === lines.length ? [] : [`${PRESET_PATH}: a line stands there twice`]),
  ];
}

const isEnabled = (unit: string, { entries }: Disk): boolean =>
  [...entries.keys()].some(
    (path) => path.startsWith(UNIT_DIRECTORY) && /\.(wants|requires)\//.test(path) && path.endsWith(`/${unit}`),
  );

function compareUser(user: DiskUser, disk: Disk): string[] {
  const what = `user ${user.name}`;
  const found = disk.accounts.get(user.name);
  if (found === undefined || !user.shouldExist)
    return differ(what, { exists: [found !== undefined, user.shouldExist] });
  const { uid = found.uid, gecos = found.comment, homeDir = found.home, shell = found.shell } = user;
  return [
    ...differ(what, {
      uid: [found.uid, uid],
      gecos: [found.comment, gecos],
      homeDir: [found.home, homeDir],
      shell: [found.shell, shell],
    }),
    ...compareGroups(user, found, disk),
    // Both clients lock the account of who has none. A hash is never shown.
    ...(found.passwordHash === (user.passwordHash ?? '*') ? [] : [`${what}: another password hash than planned`]),
    ...compareKeys(user, found, disk),
  ];
}

function compareGroups({ name, groups, primaryGroup }: DiskUser, found: Account, disk: Disk): string[] {
  return differ(`user ${name}`, {
    primaryGroup: [found.gid, primaryGroup === undefined ? found.gid : disk.groups.get(primaryGroup)],
    groups: [found.groups.join(), groups.length === 0 ? found.groups.join() : groups.toSorted().join()],
  });
}

function compareKeys({ name, sshKeys }: DiskUser, { home, gid }: Account, disk: Disk): string[] {
  if (sshKeys === undefined) return [];
  const { paths, mode, bytes } = sshKeys;
  const owners = { user: { name }, group: { id: gid } };
  return compareEntry(
    { kind: 'file', path: `${home}/${paths[0]}`, mode, bytes, ...owners, keepsExisting: false, of: 'file' },
    disk,
  );
}

/** Everything on the disk has a reason: the plan, the empty root, or that something with a reason is below it. */
function findUnplanned(plan: DiskPlan, disk: Disk): string[] {
  const reasons = new Set([...baseFiles, ...plan.entries.map(({ path }) => path)]);
  if (plan.presets.length > 0) reasons.add(PRESET_PATH);
  for (const { name, sshKeys } of plan.users) {
    const home = disk.accounts.get(name)?.home ?? '';
    reasons.add(home);
    if (sshKeys !== undefined) reasons.add(`${home}/${sshKeys.paths[0]}`);
  }
  for (const path of reasons) if (path !== dirname(path)) reasons.add(dirname(path));
  return [...disk.entries.keys()]
    .filter((path) => !reasons.has(path))
    .map((path) => `${path}: on the disk, and not planned`);
}

function findId(owner: Owner, kind: 'user' | 'group', { accounts, groups }: Disk): number | undefined {
  if ('id' in owner) return owner.id;
  return kind === 'user' ? accounts.get(owner.name)?.uid : groups.get(owner.name);
}

const octal = (mode: number): string => mode.toString(8);

/** [found, planned] by the name of what is compared. */
function differ(what: string, fields: Record<string, unknown[]>): string[] {
  return Object.entries(fields)
    .filter(([, [found, planned]]) => found !== planned)
    .map(([field, [found, planned]]) => `${what}: ${field} is ${String(found)}, planned ${String(planned)}`);
}
