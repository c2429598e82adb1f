// Parses URLs like the Go client (net/url): both must accept and refuse the same sources. The browser's URL does not
// help: it repairs what Go refuses.

export interface ParsedUrl {
  /** Lower case; '' if there is none. */
  readonly scheme: string;
  /** The part after the scheme of a URL without slashes, up to the query. */
  readonly opaque: string;
  readonly query: string;
}

// Anything below the space, and DEL.
const CONTROL = /[^ -~\u0080-\uffff]/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const USERINFO = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
const PORT = /^(?::[0-9]*)?$/;

// ASCII allowed unescaped in a host, or an escape of a non-ASCII byte or of the percent sign.
const HOST = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"]|[\u0080-\uffff]|%[89A-Fa-f][0-9A-Fa-f]|%25)*$/;
// In the zone of an IPv6 address also the escape of a space and of characters allowed unescaped in a host.
const ZONE_ESCAPE = /%([0-9A-Fa-f]{2})/g;
const HOST_CHARACTER = /[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"% ]/;
const HOST_PLAIN = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%]|[\u0080-\uffff])*$/;

/** Null if Go could not parse it. */
export function parseUrl(text: string): ParsedUrl | null {
  const [url, fragment] = cut(text, '#');
  if (CONTROL.test(url) || BAD_ESCAPE.test(fragment) || url.startsWith(':')) return null;
  const scheme = SCHEME.exec(url)?.[1] ?? '';
  const [place, query] = cut(scheme === '' ? url : url.slice(scheme.length + 1), '?');
  return parsePlace(scheme.toLowerCase(), place, query);
}

function parsePlace(scheme: string, place: string, query: string): ParsedUrl | null {
  if (!place.startsWith('/')) return parseRootless(scheme, place, query);
  const hasAuthority = place.startsWith('//') && (scheme !== '' || !place.startsWith('///'));
  const path = hasAuthority ? afterAuthority(place) : place;
  return path === null || BAD_ESCAPE.test(path) ? null : { scheme, opaque: '', query };
}

/** The text before and after the first mark. */
function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function parseRootless(scheme: string, place: string, query: string): ParsedUrl | null {
  if (scheme !== '') return { scheme, opaque: place, query };
  // `a_b:c` could be a misspelt scheme.
  const [segment = ''] = place.split('/', 1);
  return segment.includes(':') || BAD_ESCAPE.test(place) ? null : { scheme, opaque: '', query };
}

/** The path after `//host`; null if the authority is invalid. */
function afterAuthority(place: string): string | null {
  const slash = place.indexOf('/', 2);
  const authority = slash < 0 ? place.slice(2) : place.slice(2, slash);
  const at = authority.lastIndexOf('@');
  if (!isHost(authority.slice(at + 1))) return null;
  if (at >= 0 && !isUserinfo(authority.slice(0, at))) return null;
  return slash < 0 ? '' : place.slice(slash);
}

function isUserinfo(userinfo: string): boolean {
  return USERINFO.test(userinfo) && !BAD_ESCAPE.test(userinfo);
}

function isHost(host: string): boolean {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) return false;
  if (bracket === 0) return isLiteral(host);
  const colon = host.lastIndexOf(':');
  return HOST.test(host) && (colon < 0 || PORT.test(host.slice(colon)));
}

/** `[…]` with an IPv6 address, and a port. */
function isLiteral(host: string): boolean {
  const close = host.lastIndexOf(']');
  if (close < 0 || !PORT.test(host.slice(close + 1))) return false;
  const inside = host.slice(1, close);
  const zone = inside.indexOf('%25');
  if (zone < 0) return HOST.test(inside) && isIPv6(inside);
  if (!isZone(inside.slice(zone))) return false;
  return HOST.test(inside.slice(0, zone)) && inside.length > zone + 3 && isIPv6(inside.slice(0, zone));
}

function isZone(zone: string): boolean {
  if (BAD_ESCAPE.test(zone) || !HOST_PLAIN.test(zone)) return false;
  for (const [, hex = ''] of zone.matchAll(ZONE_ESCAPE)) {
    if (!HOST_CHARACTER.test(String.fromCharCode(Number.parseInt(hex, 16)))) return false;
  }
  return true;
}

/** Beyond this number, Go returns no parameters at all. */
const MAX_PARAMETERS = 10_000;

/** The first value of a query parameter; undefined if none can be read. */
export function queryParameter(query: string, name: string): string | undefined {
  const pairs = query.split('&', MAX_PARAMETERS + 1);
  if (pairs.length > MAX_PARAMETERS) return undefined;
  for (const pair of pairs) {
    if (pair.includes(';') || BAD_ESCAPE.test(pair)) continue;
    const equals = pair.indexOf('=');
    const key = equals < 0 ? pair : pair.slice(0, equals);
    if (unescapeAscii(key) === name) return equals < 0 ? '' : pair.slice(equals + 1);
  }
  return undefined;
}

function unescapeAscii(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(ZONE_ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const GROUP = /^[0-9A-Fa-f]{1,4}$/;
const IPV4_PART = /^(?:0|[1-9][0-9]{0,2})$/;

/** An IPv6 address as text, as strict as Go's netip. */
export function isIPv6(text: string): boolean {
  if (!text.includes(':')) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const sizes = groups.map((half, index) => countGroups(half, index === groups.length - 1));
  if (sizes.includes(-1)) return false;
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return halves.length === 2 ? total < 8 : total === 8;
}

/** The number of 16-bit groups in the parts, -1 if one is invalid. Only the very last may be an IPv4 address. */
function countGroups(parts: readonly string[], isLast: boolean): number {
  let count = 0;
  for (const [index, part] of parts.entries()) {
    if (GROUP.test(part)) count += 1;
    else if (isLast && index === parts.length - 1 && isIPv4(part)) count += 2;
    else return -1;
  }
  return count;
}

function isIPv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => IPV4_PART.test(part) && Number(part) <= 255);
}
