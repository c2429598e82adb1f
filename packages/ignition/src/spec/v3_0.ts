// Spec 3.0.0. Every later 3.x file defines only what changed.
import { always, bool, ifset, int, list, literal, nonzero, object, string, type TypeOf } from './field.ts';

export const verification = object('verification', { hash: ifset(string) });

const configReference = object('resource', { source: ifset(string), verification: nonzero(verification) });

const caReference = object('resource', { source: always(string), verification: nonzero(verification) });

const fileContents = object('resource', {
  compression: ifset(string),
  source: ifset(string),
  verification: nonzero(verification),
});

export const timeouts = object('timeouts', { httpResponseHeaders: ifset(int), httpTotal: ifset(int) });

const ignition = object('ignition', {
  config: nonzero(
    object('ignitionConfig', { merge: nonzero(list(configReference)), replace: nonzero(configReference) }),
  ),
  security: nonzero(
    object('security', { tls: nonzero(object('tls', { certificateAuthorities: nonzero(list(caReference)) })) }),
  ),
  timeouts: nonzero(timeouts),
  version: always(literal('3.0.0')),
});

const passwdGroup = object('group', {
  gid: ifset(int),
  name: always(string),
  passwordHash: ifset(string),
  system: ifset(bool),
});

const passwdUser = object('user', {
  gecos: ifset(string),
  groups: nonzero(list(string)),
  homeDir: ifset(string),
  name: always(string),
  noCreateHome: ifset(bool),
  noLogInit: ifset(bool),
  noUserGroup: ifset(bool),
  passwordHash: ifset(string),
  primaryGroup: ifset(string),
  sshAuthorizedKeys: nonzero(list(string)),
  shell: ifset(string),
  system: ifset(bool),
  uid: ifset(int),
});

const passwd = object('passwd', { groups: nonzero(list(passwdGroup)), users: nonzero(list(passwdUser)) });

const owner = object('owner', { id: ifset(int), name: ifset(string) });

export const node = {
  group: nonzero(owner),
  overwrite: ifset(bool),
  path: always(string),
  user: nonzero(owner),
};

export const directory = object('directory', { ...node, mode: ifset(int) });

const file = object('file', {
  ...node,
  append: nonzero(list(fileContents)),
  contents: nonzero(fileContents),
  mode: ifset(int),
});

const link = object('link', { ...node, hard: ifset(bool), target: always(string) });

const partition = object('partition', {
  guid: ifset(string),
  label: ifset(string),
  number: nonzero(int),
  shouldExist: ifset(bool),
  sizeMiB: ifset(int),
  startMiB: ifset(int),
  typeGuid: ifset(string),
  wipePartitionEntry: ifset(bool),
});

const disk = object('disk', {
  device: always(string),
  partitions: nonzero(list(partition)),
  wipeTable: ifset(bool),
});

const filesystem = object('filesystem', {
  device: always(string),
  format: ifset(string),
  label: ifset(string),
  options: nonzero(list(string)),
  path: ifset(string),
  uuid: ifset(string),
  wipeFilesystem: ifset(bool),
});

const raid = object('raid', {
  devices: nonzero(list(string)),
  level: always(string),
  name: always(string),
  options: nonzero(list(string)),
  spares: ifset(int),
});

export const storage = object('storage', {
  directories: nonzero(list(directory)),
  disks: nonzero(list(disk)),
  files: nonzero(list(file)),
  filesystems: nonzero(list(filesystem)),
  links: nonzero(list(link)),
  raid: nonzero(list(raid)),
});

const dropin = object('dropin', { contents: ifset(string), name: always(string) });

const unit = object('unit', {
  contents: ifset(string),
  dropins: nonzero(list(dropin)),
  enabled: ifset(bool),
  mask: ifset(bool),
  name: always(string),
});

const systemd = object('systemd', { units: nonzero(list(unit)) });

export const config = object('config', {
  ignition: always(ignition),
  passwd: nonzero(passwd),
  storage: nonzero(storage),
  systemd: nonzero(systemd),
});

export type Config = TypeOf<typeof config>;
