// Spec 3.5.0: LUKS volumes opened by a Crypto Express card.
import { always, bool, ifset, list, literal, nonzero, object, type TypeOf } from './field.ts';
import {
  config as previous,
  ignition as previousIgnition,
  luks as previousLuks,
  storage as previousStorage,
} from './v3_4.ts';

export const ignition = object('ignition', { ...previousIgnition.fields, version: always(literal('3.5.0')) });

const cex = object('cex', { enabled: ifset(bool) });

const luks = object('luks', { ...previousLuks.fields, cex: nonzero(cex) });

const storage = object('storage', { ...previousStorage.fields, luks: nonzero(list(luks)) });

export const config = object('config', { ...previous.fields, ignition: always(ignition), storage: nonzero(storage) });

export type Config = TypeOf<typeof config>;
