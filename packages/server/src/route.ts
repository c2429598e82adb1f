/** What a request is for, as far as its first line says. */
export type Route =
  | { to: 'config'; pool: string; form: Form }
  | { to: 'health' }
  | { to: 'nothing' }
  | { to: 'method' };

/** `gzip`: the bytes a stub asks for, packed. Ignition forbids the packing of HTTP itself. */
export type Form = 'plain' | 'gzip';

/** The methods that are answered. */
export const allowedMethods = 'GET, HEAD';

const poolPath = /^\/config\/([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)$/;

/** The path before the method: a wrong path stays wrong with every method. */
export function routeOf(method: string | undefined, url: string | undefined): Route {
  const [path = '', query = ''] = (url ?? '').split('?', 2);
  const pool = poolPath.exec(path)?.[1];
  if (pool === undefined && path !== '/healthz') return { to: 'nothing' };
  if (method !== 'GET' && method !== 'HEAD') return { to: 'method' };
  return pool === undefined ? { to: 'health' } : { to: 'config', pool, form: formOf(query) };
}

const formOf = (query: string): Form => (query.split('&').includes('compression=gzip') ? 'gzip' : 'plain');
