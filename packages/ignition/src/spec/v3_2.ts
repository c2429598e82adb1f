// Spec 3.2.0: LUKS volumes, partition resizing, users and groups that must not exist.
import { always, bool, ifset, int, list, literal, nonzero, object, string, type TypeOf } from './field.ts';
import { config as previous, ignition as previousIgnition, resource, storage as previousStorage } from './v3_1.ts';

export const ignition = object('ignition', { ...previousIgnition.fields, version: always(literal('3.2.0')) });

const previousPasswd = previous.fields.passwd.kind.fields;

const passwd = object('passwd', {
  groups: nonzero(list(object('group', { ...previousPasswd.groups.kind.item.fields, shouldExist: ifset(bool) }))),
  users: nonzero(list(object('user', { ...previousPasswd.users.kind.item.fields, shouldExist: ifset(bool) }))),
});

const previousDisk = previousStorage.fields.disks.kind.item;

const partition = object('partition', {
  ...previousDisk.fields.partitions.kind.item.fields,
  resize: ifset(bool),
});

const disk = object('disk', { ...previousDisk.fields, partitions: nonzero(list(partition)) });

export const tang = object('tang', { thumbprint: ifset(string), url: nonzero(string) });

// `clevis` and `custom` are `ifset` in this version only: here an empty object is not the same as none.
const custom = object('custom', { config: always(string), needsNetwork: ifset(bool), pin: always(string) });

const clevis = object('clevis', {
  custom: ifset(custom),
  tang: nonzero(list(tang)),
  threshold: ifset(int),
  tpm2: ifset(bool),
});

export const luks = object('luks', {
  clevis: ifset(clevis),
  device: ifset(string),
  keyFile: nonzero(resource),
  label: ifset(string),
  name: always(string),
  options: nonzero(list(string)),
  uuid: ifset(string),
  wipeVolume: ifset(bool),
});

export const storage = object('storage', {
  ...previousStorage.fields,
  disks: nonzero(list(disk)),
  luks: nonzero(list(luks)),
});

export const config = object('config', {
  ...previous.fields,
  ignition: always(ignition),
  passwd: nonzero(passwd),
  storage: nonzero(storage),
});

export type Config = TypeOf<typeof config>;
