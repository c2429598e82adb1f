// Which addresses a fetch may connect to. Pure: the caller resolves names.

/** Where contents may be fetched from. Set by the operator of Slipway, never by the author of a config. */
export interface HostPolicy {
  /** Only these hosts: `files.example.com`, `*.example.com` (its subdomains), an address. Absent: any host. */
  allowHosts?: readonly string[];
  /** CIDR ranges (or single addresses) that are allowed although refused by default, such as `127.0.0.0/8`. */
  allowAddresses?: readonly string[];
  /** Private networks are refused too: for a program that prints what configs of strangers refer to, as in CI. */
  refusePrivate?: boolean;
}

export interface Address {
  family: 4 | 6;
  value: bigint;
}

interface Range {
  base: Address;
  prefix: number;
}

/** Refused unless listed in `allowAddresses`. */
const REFUSED: [cidr: string, why: string][] = [
  ['0.0.0.0/8', 'it means this host'],
  ['127.0.0.0/8', 'it is a loopback address'],
  ['169.254.0.0/16', 'it is a link-local address, where clouds serve instance metadata and credentials'],
  ['100.100.100.200/32', 'it is an instance metadata address'],
  ['168.63.129.16/32', 'it is a cloud platform service address'],
  ['192.0.0.192/32', 'it is an instance metadata address'],
  ['224.0.0.0/4', 'it is a multicast address'],
  ['240.0.0.0/4', 'it is a reserved or broadcast address'],
  ['::/128', 'it means this host'],
  ['::1/128', 'it is the loopback address'],
  ['fe80::/10', 'it is a link-local address'],
  ['fec0::/10', 'it is a site-local address, which no longer exists'],
  ['ff00::/8', 'it is a multicast address'],
  ['fd00:ec2::/32', 'it is an instance metadata address'],
  ['fd20:ce::254/128', 'it is an instance metadata address'],
  ['fd00:42::42/128', 'it is an instance metadata address'],
];

const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '198.18.0.0/15', 'fc00::/7'];
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/**
 * Encodings of an IPv4 address in an IPv6 one, and how to extract it.
 * A translator or tunnel would deliver to the inner address, so that one must be allowed too.
 */
const EMBEDDINGS: [cidr: string, find: (value: bigint) => bigint[]][] = [
  ['::ffff:0:0/96', (value) => [low32(value)]], // mapped
  ['::ffff:0:0:0/96', (value) => [low32(value)]], // translated (SIIT)
  ['::/96', (value) => [low32(value)]], // compatible
  ['64:ff9b::/96', (value) => [low32(value)]], // NAT64
  ['64:ff9b:1::/48', localNat64],
  ['2002::/16', (value) => [low32(value >> 80n)]], // 6to4
  ['2001::/32', (value) => [low32(value >> 64n), low32(~value)]], // Teredo: its server, and its client inverted
];

const refusedRanges = REFUSED.map(([cidr, why]) => ({ range: mustRange(cidr), why }));
// After the others: a metadata address in a private network is refused as that.
const withPrivate = [
  ...refusedRanges,
  ...PRIVATE.map((cidr) => ({ range: mustRange(cidr), why: 'it is an address of a private network' })),
];
const embeddings = EMBEDDINGS.map(([cidr, find]) => ({ range: mustRange(cidr), find }));

/** Whether a connection to this address is allowed. */
export function isAddressAllowed(ip: string, policy: HostPolicy): boolean {
  return whyAddressRefused(ip, policy) === null;
}

/** Why a connection to this address is not allowed, or null if it is. */
export function whyAddressRefused(ip: string, policy: HostPolicy): string | null {
  const address = parseAddress(ip);
  if (address === null) return 'it is not an IP address';
  const allowed = (policy.allowAddresses ?? []).flatMap((cidr) => parseRange(cidr) ?? []);
  const isAllowed = (each: Address) => allowed.some((range) => contains(range, each));
  if (isAllowed(address)) return null;
  const refused = policy.refusePrivate === true ? withPrivate : refusedRanges;
  for (const each of [address, ...innerAddresses(address)]) {
    const hit = refused.find(({ range }) => contains(range, each));
    if (hit === undefined || isAllowed(each)) continue;
    return each === address ? hit.why : `it leads to ${formatIpv4(each.value)}: ${hit.why}`;
  }
  return null;
}

/**
 * Why a host at these addresses must not send a client on to this address; null if it may. A host in a private network
 * may do so within private networks, where its storage is, and one on this machine also to this machine.
 */
export function whyRedirectRefused(from: readonly string[], to: string): string | null {
  const isIn = (ranges: readonly string[]): boolean => from.some((ip) => ranges.some((range) => isInRange(ip, range)));
  if (isIn(LOOPBACK)) return whyAddressRefused(to, { allowAddresses: LOOPBACK });
  return whyAddressRefused(to, { refusePrivate: !isIn(PRIVATE) });
}

/** The same, with the flag of our commands and controllers that allows it. */
export function whyConnectionRefused(ip: string, policy: HostPolicy): string | null {
  const why = whyAddressRefused(ip, policy);
  return why === null
    ? null
    : `${why}; if it is intended, allow it with --allow-address ${ip}/${ip.includes(':') ? 128 : 32}`;
}

/** Why this host (a URL's `hostname`) is not allowed, before any lookup; null if it is. */
export function whyHostRefused(host: string, policy: HostPolicy): string | null {
  if (policy.allowHosts !== undefined && !policy.allowHosts.some((pattern) => matchesHost(host, pattern))) {
    return 'it is not in the list of allowed hosts';
  }
  const literal = parseHostAddress(host);
  return literal === null ? null : whyConnectionRefused(literal, policy);
}

/** The address if a URL's `hostname` is one. The URL parser already maps 0x7f.1, 017700000001 etc. to 127.0.0.1. */
export function parseHostAddress(host: string): string | null {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return parseAddress(bare) === null ? null : bare;
}

/** Whether `text` is a valid address or CIDR range for `allowAddresses`. */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== null;
}

/** Whether an address is in a CIDR range; false if either is invalid. */
export function isInRange(ip: string, cidr: string): boolean {
  const address = parseAddress(ip);
  const range = parseRange(cidr);
  return address !== null && range !== null && contains(range, address);
}

function matchesHost(host: string, pattern: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  const wanted = pattern.toLowerCase().replace(/\.$/, '');
  if (wanted.startsWith('*.')) return name.endsWith(wanted.slice(1)) && name.length > wanted.length - 1;
  return name === wanted || (parseHostAddress(name) ?? name) === wanted;
}

function innerAddresses(address: Address): Address[] {
  if (address.family === 4) return [];
  const found = embeddings
    .filter(({ range }) => contains(range, address))
    .flatMap(({ find }) => find(address.value))
    .concat(isIsatap(address.value) ? [low32(address.value)] : []);
  return found.map((value) => ({ family: 4, value }));
}

function isIsatap(value: bigint): boolean {
  const identifier = (value >> 32n) & 0xffffffffn;
  return identifier === 0x5efen || identifier === 0x02005efen;
}

function low32(value: bigint): bigint {
  return value & 0xffffffffn;
}

/**
 * For the local-use prefix the network chooses the prefix length (RFC 6052), so all possible positions of the address
 * are checked. A candidate with a leading zero byte is padding read at the wrong position.
 */
function localNat64(value: bigint): bigint[] {
  const candidates = [low32(value), rfc6052(value, 48), rfc6052(value, 56), rfc6052(value, 64)];
  return candidates.filter((each) => each >> 24n !== 0n);
}

/** The IPv4 address after a prefix of 48, 56 or 64 bits; bits 64 to 71 are always skipped. */
function rfc6052(value: bigint, prefix: 48 | 56 | 64): bigint {
  const withoutGap = ((value >> 64n) << 56n) | (value & ((1n << 56n) - 1n));
  return low32(withoutGap >> BigInt(120 - prefix - 32));
}

function contains(range: Range, address: Address): boolean {
  if (range.base.family !== address.family) return false;
  const shift = BigInt((address.family === 4 ? 32 : 128) - range.prefix);
  return address.value >> shift === range.base.value >> shift;
}

function parseRange(text: string): Range | null {
  const [ip = '', length, ...rest] = text.split('/');
  const base = parseAddress(ip);
  if (base === null || rest.length > 0) return null;
  const bits = base.family === 4 ? 32 : 128;
  if (length === undefined) return { base, prefix: bits };
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return null;
  return { base, prefix: Number(length) };
}

function mustRange(cidr: string): Range {
  const range = parseRange(cidr);
  if (range === null) throw new Error(`${cidr} in the address tables is not a CIDR range`);
  return range;
}

/** Dotted IPv4, or IPv6 in any of its forms, with or without a zone. */
function parseAddress(text: string): Address | null {
  const ipv4 = parseIpv4(text);
  if (ipv4 !== null) return { family: 4, value: ipv4 };
  const ipv6 = parseIpv6(text.split('%', 1)[0] ?? '');
  return ipv6 === null ? null : { family: 6, value: ipv6 };
}

function parseIpv4(text: string): bigint | null {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return null;
  const parts = text.split('.').map(Number);
  if (parts.some((part) => part > 255)) return null;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function parseIpv6(text: string): bigint | null {
  const gap = text.indexOf('::');
  const groups = gap < 0 ? parseGroups(text) : withGap(text.slice(0, gap), text.slice(gap + 2));
  if (groups?.length !== 8) return null;
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

/** Joins the two sides of `::` with as many zero groups as needed; at least one. */
function withGap(before: string, after: string): bigint[] | null {
  const head = parseGroups(before);
  const tail = parseGroups(after);
  if (head === null || tail === null || head.length + tail.length > 7) return null;
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0n), ...tail];
}

/** The groups on one side of `::`; a dotted IPv4 tail counts as two. */
function parseGroups(text: string): bigint[] | null {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const ipv4 = index === parts.length - 1 ? parseIpv4(part) : null;
    if (ipv4 !== null) groups.push(ipv4 >> 16n, ipv4 & 0xffffn);
    else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups.push(BigInt(`0x${part}`));
    else return null;
  }
  return groups;
}

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
}
