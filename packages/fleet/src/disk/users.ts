import type { RenderedIgnition } from '../render/ignition.ts';
import type { DiskGroup, DiskUser, SshKeys } from './disk-plan.ts';

type Passwd = NonNullable<RenderedIgnition['passwd']>;
type User = NonNullable<Passwd['users']>[number];
type Group = NonNullable<Passwd['groups']>[number];

export function userOf(user: User): DiskUser {
  const { name, groups = [], shouldExist = true, sshAuthorizedKeys = [] } = user;
  const { uid, gecos, homeDir, shell, primaryGroup } = user;
  return {
    name,
    shouldExist,
    groups,
    ...present({ uid, gecos, homeDir, shell, primaryGroup, passwordHash: shadowOf(user.passwordHash) }),
    ...(sshAuthorizedKeys.length === 0 ? {} : { sshKeys: keysOf(sshAuthorizedKeys) }),
  };
}

export function groupOf({ name, gid, passwordHash, shouldExist = true }: Group): DiskGroup {
  return { name, shouldExist, ...present({ gid, passwordHash: shadowOf(passwordHash) }) };
}

/** No password is not the empty one: nobody may log in with it. */
function shadowOf(passwordHash: string | undefined): string | undefined {
  return passwordHash === '' ? '*' : passwordHash;
}

function keysOf(keys: readonly string[]): SshKeys {
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
