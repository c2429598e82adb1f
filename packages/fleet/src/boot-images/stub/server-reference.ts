// The reference of a stub to the machine config server: what tells for which pool a machine is born.

/** Where every machine config server of this kind listens. */
const SERVER_PORT = '22623';
const CONFIG_PATH = /^\/config\/([^/]+)$/;
/** A pool's name is part of the names of Secrets. */
const POOL_NAME = /^[a-z0-9](?:[-.a-z0-9]{0,200}[a-z0-9])?$/;

export interface ServerReference {
  /** The pool, or its role, whose config is fetched. */
  readonly role: string;
  /** Such as https://api-int.example.com:22623. */
  readonly origin: string;
  /** It asks for nothing but the config, or its gzip form. */
  readonly plain: boolean;
}

export type KnownServer = string | null;

/**
 * Null where a source is something else. The host is no proof: it is a name on some platforms and a virtual address on
 * others, and both stay right. The port is, and so is the address that the managed stub has: `ours`; `any` where that is
 * not known yet.
 */
export function serverReference(source: string | undefined, ours: KnownServer = null): ServerReference | null {
  if (source === undefined || !URL.canParse(source)) return null;
  const url = new URL(source);
  const role = isPlainHttps(url) ? (CONFIG_PATH.exec(url.pathname)?.[1] ?? '') : '';
  if (!POOL_NAME.test(role) || !isServer(url, ours)) return null;
  return { role, origin: url.origin, plain: url.search === '' || url.search === '?compression=gzip' };
}

const isPlainHttps = ({ protocol, username, password, hash }: URL): boolean =>
  protocol === 'https:' && username === '' && password === '' && hash === '';

const isServer = ({ port, origin }: URL, ours: KnownServer): boolean =>
  port === SERVER_PORT || ours === 'any' || origin === ours;
