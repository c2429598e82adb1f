// Spec 2.4.0: headers on remote references, proxies.
import { always, list, literal, nonzero, object, string, type TypeOf } from './field.ts';
import { configReference as previousReference, fileContents as previousContents, node } from './v2_2.ts';
import { config as previous, ignition as previousIgnition, storage as previousStorage } from './v2_3.ts';

const httpHeader = object('header', { name: always(string), value: always(string) });

const httpHeaders = nonzero(list(httpHeader));

const reference = object('resource', { ...previousReference.fields, httpHeaders });

const fileContents = object('resource', { ...previousContents.fields, httpHeaders });

const previousConfig = previousIgnition.fields.config.kind.fields;

const ignition = object('ignition', {
  ...previousIgnition.fields,
  config: nonzero(
    object('ignitionConfig', {
      append: nonzero(list(reference)),
      replace: { ...previousConfig.replace, kind: reference },
    }),
  ),
  proxy: nonzero(
    object('proxy', {
      httpProxy: nonzero(string),
      httpsProxy: nonzero(string),
      noProxy: nonzero(list(string)),
    }),
  ),
  security: nonzero(
    object('security', { tls: nonzero(object('tls', { certificateAuthorities: nonzero(list(reference)) })) }),
  ),
  version: always(literal('2.4.0')),
});

const file = object('file', {
  ...previousStorage.fields.files.kind.item.fields,
  ...node,
  contents: nonzero(fileContents),
});

const storage = object('storage', { ...previousStorage.fields, files: nonzero(list(file)) });

export const config = object('config', { ...previous.fields, ignition: always(ignition), storage: nonzero(storage) });

export type Config = TypeOf<typeof config>;
