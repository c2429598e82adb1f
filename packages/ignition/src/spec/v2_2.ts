// Spec 2.2.0. The files of 2.3 and 2.4 define only what changed.
import { always, bool, ifset, int, list, literal, nonzero, object, string, type TypeOf } from './field.ts';

const verification = object('verification', { hash: ifset(string) });

export const configReference = object('resource', { source: always(string), verification: nonzero(verification) });

export const fileContents = object('resource', {
  compression: nonzero(string),
  source: nonzero(string),
  verification: nonzero(verification),
});

const timeouts = object('timeouts', { httpResponseHeaders: ifset(int), httpTotal: ifset(int) });

export const ignition = object('ignition', {
  config: nonzero(
    object('ignitionConfig', { append: nonzero(list(configReference)), replace: ifset(configReference) }),
  ),
  security: nonzero(
    object('security', { tls: nonzero(object('tls', { certificateAuthorities: nonzero(list(configReference)) })) }),
  ),
  timeouts: nonzero(timeouts),
  version: always(literal('2.2.0')),
});

const networkdDropin = object('networkdDropin', { contents: nonzero(string), name: always(string) });

const networkdUnit = object('networkdUnit', {
  contents: nonzero(string),
  dropins: nonzero(list(networkdDropin)),
  name: always(string),
});

const passwdGroup = object('group', {
  gid: ifset(int),
  name: always(string),
  passwordHash: nonzero(string),
  system: nonzero(bool),
});

const account = {
  gecos: nonzero(string),
  groups: nonzero(list(string)),
  homeDir: nonzero(string),
  noCreateHome: nonzero(bool),
  noLogInit: nonzero(bool),
  noUserGroup: nonzero(bool),
  primaryGroup: nonzero(string),
  shell: nonzero(string),
  system: nonzero(bool),
  uid: ifset(int),
};

const passwdUser = object('user', {
  ...account,
  create: ifset(object('userCreate', account)),
  name: always(string),
  passwordHash: ifset(string),
  sshAuthorizedKeys: nonzero(list(string)),
});

const owner = object('owner', { id: ifset(int), name: nonzero(string) });

export const node = {
  filesystem: always(string),
  group: ifset(owner),
  overwrite: ifset(bool),
  path: always(string),
  user: ifset(owner),
};

const directory = object('directory', { ...node, mode: ifset(int) });

const file = object('file', {
  ...node,
  append: nonzero(bool),
  contents: nonzero(fileContents),
  mode: ifset(int),
});

const link = object('link', { ...node, hard: nonzero(bool), target: always(string) });

const partition = object('partition', {
  guid: nonzero(string),
  label: nonzero(string),
  number: nonzero(int),
  size: nonzero(int),
  start: nonzero(int),
  typeGuid: nonzero(string),
});

export const disk = object('disk', {
  device: always(string),
  partitions: nonzero(list(partition)),
  wipeTable: nonzero(bool),
});

const mount = object('mount', {
  create: ifset(object('create', { force: nonzero(bool), options: nonzero(list(string)) })),
  device: always(string),
  format: always(string),
  label: ifset(string),
  options: nonzero(list(string)),
  uuid: ifset(string),
  wipeFilesystem: nonzero(bool),
});

const filesystem = object('filesystem', { mount: ifset(mount), name: nonzero(string), path: ifset(string) });

const raid = object('raid', {
  devices: nonzero(list(string)),
  level: always(string),
  name: always(string),
  options: nonzero(list(string)),
  spares: nonzero(int),
});

export const storage = object('storage', {
  directories: nonzero(list(directory)),
  disks: nonzero(list(disk)),
  files: nonzero(list(file)),
  filesystems: nonzero(list(filesystem)),
  links: nonzero(list(link)),
  raid: nonzero(list(raid)),
});

const dropin = object('dropin', { contents: nonzero(string), name: always(string) });

const unit = object('unit', {
  contents: nonzero(string),
  dropins: nonzero(list(dropin)),
  enable: nonzero(bool),
  enabled: ifset(bool),
  mask: nonzero(bool),
  name: always(string),
});

export const config = object('config', {
  ignition: always(ignition),
  networkd: nonzero(object('networkd', { units: nonzero(list(networkdUnit)) })),
  passwd: nonzero(object('passwd', { groups: nonzero(list(passwdGroup)), users: nonzero(list(passwdUser)) })),
  storage: nonzero(storage),
  systemd: nonzero(object('systemd', { units: nonzero(list(unit)) })),
});

export type Config = TypeOf<typeof config>;
