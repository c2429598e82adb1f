// Spec 3.1.0: every remote reference becomes one resource with compression and headers; proxies; mount options.
import { always, ifset, list, literal, nonzero, object, string, type TypeOf } from './field.ts';
import { config as previous, directory, node, storage as previousStorage, timeouts, verification } from './v3_0.ts';

const httpHeader = object('header', { name: always(string), value: ifset(string) });

export const resource = object('resource', {
  compression: ifset(string),
  httpHeaders: nonzero(list(httpHeader)),
  source: ifset(string),
  verification: nonzero(verification),
});

const proxy = object('proxy', {
  httpProxy: ifset(string),
  httpsProxy: ifset(string),
  noProxy: nonzero(list(string)),
});

export const ignition = object('ignition', {
  config: nonzero(object('ignitionConfig', { merge: nonzero(list(resource)), replace: nonzero(resource) })),
  proxy: nonzero(proxy),
  security: nonzero(
    object('security', { tls: nonzero(object('tls', { certificateAuthorities: nonzero(list(resource)) })) }),
  ),
  timeouts: nonzero(timeouts),
  version: always(literal('3.1.0')),
});

const file = object('file', {
  ...node,
  append: nonzero(list(resource)),
  contents: nonzero(resource),
  mode: directory.fields.mode,
});

const filesystem = object('filesystem', {
  ...previousStorage.fields.filesystems.kind.item.fields,
  mountOptions: nonzero(list(string)),
});

export const storage = object('storage', {
  ...previousStorage.fields,
  files: nonzero(list(file)),
  filesystems: nonzero(list(filesystem)),
});

export const config = object('config', { ...previous.fields, ignition: always(ignition), storage: nonzero(storage) });

export type Config = TypeOf<typeof config>;
