// Chooses the proxy for a URL by the rules of Go's golang.org/x/net/http/httpproxy, which the real client follows.
import { parseHostAddress, isInRange } from './address.ts';

export interface ProxySettings {
  httpProxy?: string;
  httpsProxy?: string;
  noProxy?: readonly string[];
}

/** The proxy's URL, or null for a direct connection. */
export function proxyFor(url: URL, settings: ProxySettings): string | null {
  const proxy = url.protocol === 'https:' ? settings.httpsProxy : settings.httpProxy;
  if (proxy === undefined || proxy === '') return null;
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  // Via a proxy, localhost would be the proxy's own.
  if (host === 'localhost' || isLoopback(host)) return null;
  const port = url.port === '' ? defaultPort(url) : url.port;
  // The items are a list, but one item may itself be comma-separated, as in the environment variable.
  const items = (settings.noProxy ?? []).flatMap((item) => item.split(','));
  return items.some((item) => matchesNoProxy(host, port, item.trim().toLowerCase())) ? null : proxy;
}

function defaultPort(url: URL): string {
  return url.protocol === 'https:' ? '443' : '80';
}

function isLoopback(host: string): boolean {
  const address = parseHostAddress(host);
  return address !== null && (isInRange(address, '127.0.0.0/8') || isInRange(address, '::1'));
}

function matchesNoProxy(host: string, port: string, item: string): boolean {
  if (item === '*') return true;
  if (item === '') return false;
  const address = parseHostAddress(host);
  if (item.includes('/')) return address !== null && isInRange(address, item);
  const { name, wantedPort } = splitPort(item);
  if (wantedPort !== null && wantedPort !== port) return false;
  if (parseHostAddress(name) !== null) return address !== null && isInRange(address, parseHostAddress(name) ?? name);
  return matchesDomain(host, name);
}

/** `example.com` covers itself and its subdomains, `.example.com` and `*.example.com` only the subdomains. */
function matchesDomain(host: string, name: string): boolean {
  const suffix = name.startsWith('*.') ? name.slice(1) : name;
  if (suffix.startsWith('.')) return host.endsWith(suffix);
  return host === suffix || host.endsWith(`.${suffix}`);
}

function splitPort(item: string): { name: string; wantedPort: string | null } {
  const match = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(item);
  if (match === null) return { name: item, wantedPort: null };
  return { name: match[1] ?? item, wantedPort: match[2] ?? null };
}
