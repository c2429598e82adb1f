// Spec 3.3.0: kernel arguments; raid level, link target and clevis fields become optional, so that they can be merged.
import { always, bool, ifset, int, list, literal, nonzero, object, string, type TypeOf } from './field.ts';
import {
  config as previous,
  ignition as previousIgnition,
  luks as previousLuks,
  storage as previousStorage,
  tang,
} from './v3_2.ts';

export const ignition = object('ignition', { ...previousIgnition.fields, version: always(literal('3.3.0')) });

const kernelArguments = object('kernelArguments', {
  shouldExist: nonzero(list(string)),
  shouldNotExist: nonzero(list(string)),
});

const raid = object('raid', { ...previousStorage.fields.raid.kind.item.fields, level: ifset(string) });

const link = object('link', { ...previousStorage.fields.links.kind.item.fields, target: ifset(string) });

const custom = object('custom', { config: ifset(string), needsNetwork: ifset(bool), pin: ifset(string) });

export const clevis = object('clevis', {
  custom: nonzero(custom),
  tang: nonzero(list(tang)),
  threshold: ifset(int),
  tpm2: ifset(bool),
});

export const luks = object('luks', { ...previousLuks.fields, clevis: nonzero(clevis) });

export const storage = object('storage', {
  ...previousStorage.fields,
  links: nonzero(list(link)),
  luks: nonzero(list(luks)),
  raid: nonzero(list(raid)),
});

export const config = object('config', {
  ...previous.fields,
  ignition: always(ignition),
  kernelArguments: nonzero(kernelArguments),
  storage: nonzero(storage),
});

export type Config = TypeOf<typeof config>;
