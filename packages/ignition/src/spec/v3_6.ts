// Spec 3.6.0: the same fields as 3.5.0; setuid, setgid and sticky bits of a mode are honoured, and any clevis pin is allowed.
import { always, literal, object, type TypeOf } from './field.ts';
import { config as previous, ignition as previousIgnition } from './v3_5.ts';

const ignition = object('ignition', { ...previousIgnition.fields, version: always(literal('3.6.0')) });

export const config = object('config', { ...previous.fields, ignition: always(ignition) });

export type Config = TypeOf<typeof config>;
