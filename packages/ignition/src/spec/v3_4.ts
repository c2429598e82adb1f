// Spec 3.4.0: tang advertisements, LUKS discard and open options; S3 access point ARNs as sources.
import { always, bool, ifset, list, literal, nonzero, object, string, type TypeOf } from './field.ts';
import {
  clevis as previousClevis,
  config as previous,
  ignition as previousIgnition,
  luks as previousLuks,
  storage as previousStorage,
} from './v3_3.ts';

export const ignition = object('ignition', { ...previousIgnition.fields, version: always(literal('3.4.0')) });

const tang = object('tang', { ...previousClevis.fields.tang.kind.item.fields, advertisement: ifset(string) });

const clevis = object('clevis', { ...previousClevis.fields, tang: nonzero(list(tang)) });

export const luks = object('luks', {
  ...previousLuks.fields,
  clevis: nonzero(clevis),
  discard: ifset(bool),
  openOptions: nonzero(list(string)),
});

export const storage = object('storage', { ...previousStorage.fields, luks: nonzero(list(luks)) });

export const config = object('config', { ...previous.fields, ignition: always(ignition), storage: nonzero(storage) });

export type Config = TypeOf<typeof config>;
