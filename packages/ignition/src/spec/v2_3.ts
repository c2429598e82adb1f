// Spec 2.3.0: partitions in MiB, partitions that must not exist.
import { always, bool, ifset, int, list, literal, nonzero, object, string, type TypeOf } from './field.ts';
import {
  config as previous,
  disk as previousDisk,
  ignition as previousIgnition,
  storage as previousStorage,
} from './v2_2.ts';

export const ignition = object('ignition', { ...previousIgnition.fields, version: always(literal('2.3.0')) });

const partition = object('partition', {
  guid: nonzero(string),
  label: ifset(string),
  number: nonzero(int),
  shouldExist: ifset(bool),
  size: ifset(int),
  sizeMiB: ifset(int),
  start: ifset(int),
  startMiB: ifset(int),
  typeGuid: nonzero(string),
  wipePartitionEntry: nonzero(bool),
});

const disk = object('disk', { ...previousDisk.fields, partitions: nonzero(list(partition)) });

export const storage = object('storage', { ...previousStorage.fields, disks: nonzero(list(disk)) });

export const config = object('config', { ...previous.fields, ignition: always(ignition), storage: nonzero(storage) });

export type Config = TypeOf<typeof config>;
