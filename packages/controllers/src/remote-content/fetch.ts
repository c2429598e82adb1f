// The real fetcher behind `resolve`: http and https through undici. Checks every hop and every address before it
// connects, and connects to the address that it checked, so that a DNS answer cannot change in between.
import { setTimeout as wait } from 'node:timers/promises';
import { backoffMs } from '@slipway/base/backoff';
import {
  checkedLookup,
  createDeadline,
  createRestingHosts,
  inspectCertificates,
  listCauses,
  type LookupAll,
  parseRetryAfter,
  readBounded,
  type ResolvedAddress,
  systemCodes,
  systemLookup,
  trustAuthorities,
} from '@slipway/base/http';
import {
  type Fetched,
  type Fetcher,
  type FetchRequest,
  type HostPolicy,
  proxyFor,
  whyAddressRefused,
  whyConnectionRefused,
  whyHostRefused,
} from '@slipway/ignition';
import { Agent, type Dispatcher, ProxyAgent, request as send } from 'undici';
import type { ControllerErrorCode } from '../errors.ts';

export interface NodeFetcherOptions {
  /** Tries per resource, including the first. */
  attempts?: number;
  /** The delay before the second try; doubles up to five seconds, as in the real client. */
  backoffMs?: number;
  lookup?: LookupAll;
}

const MAX_BACKOFF_MS = 5000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The headers that Ignition sends: no HTTP compression, and the newest spec that this library supports. */
const OWN_HEADERS: Readonly<Record<string, string>> = {
  'user-agent': 'slipway',
  accept: 'application/vnd.coreos.ignition+json;version=3.6.0, */*;q=0.1',
  'accept-encoding': 'identity',
};

/** A result, or a reason to retry. */
type Attempt = Fetched & { retry?: boolean; retryAfterMs?: number };

export function createFetcher(options: NodeFetcherOptions = {}): Fetcher {
  const { attempts = 4, backoffMs: firstMs = 200, lookup = systemLookup } = options;
  const resting = createRestingHosts(() => performance.now());
  return async (request) => {
    const { host } = new URL(request.url);
    const deadline = createDeadline(Math.ceil(request.timeouts.totalMs), request.signal);
    const bounded: FetchRequest = { ...request, signal: deadline.signal };
    try {
      for (let attempt = 1; ; attempt++) {
        const rest = resting.remainingMs(host);
        if (rest > request.timeouts.totalMs) return { ok: false, problem: formatRest(rest) };
        if (rest > 0 && !(await waited(rest, bounded.signal))) return { ok: false, problem: tooSlow(request) };
        const { retry = false, retryAfterMs = 0, ...answer } = await follow(bounded, lookup);
        resting.rest(host, retryAfterMs);
        if (answer.ok || !retry) return answer;
        if (attempt >= attempts) return { ok: false, problem: `${answer.problem} (tried ${attempt} times)` };
        const ms = Math.max(backoffMs({ firstMs, maxMs: MAX_BACKOFF_MS }, attempt), retryAfterMs);
        if (ms > request.timeouts.totalMs) return { ok: false, problem: `${answer.problem}. ${formatRest(ms)}` };
        if (!(await waited(ms, bounded.signal))) return { ok: false, problem: tooSlow(request) };
      }
    } finally {
      deadline.cancel();
    }
  };
}

/** One try: the request and its redirects. */
async function follow(request: FetchRequest, lookup: LookupAll): Promise<Attempt> {
  let url = new URL(request.url);
  // Only the first request has the config's headers: a redirecting server must not choose who receives them.
  let headers = headersFor(request, url);
  for (let hop = 0; ; hop++) {
    const refused = whyHostRefused(url.hostname, request.hosts);
    if (refused !== null)
      return { ok: false, problem: `${via(hop)}the host ${url.hostname} is not allowed: ${refused}` };
    const answer = await get(url, headers, request, lookup);
    if (!('location' in answer)) return answer;
    const next = redirectTarget(url, answer.location);
    if (typeof next === 'string') return { ok: false, problem: next };
    if (hop >= request.maxRedirects) {
      return { ok: false, problem: `it redirects more than ${request.maxRedirects} times, which is the limit` };
    }
    url = next;
    headers = { ...OWN_HEADERS };
  }
}

function via(hop: number): string {
  return hop === 0 ? '' : 'it redirects, but ';
}

function headersFor(request: FetchRequest, url: URL): Record<string, string> {
  const headers: Record<string, string> = { ...OWN_HEADERS };
  // undici drops the userinfo of a URL; the real client sends it.
  if (url.username !== '' || url.password !== '') {
    const credentials = `${unescapeUserinfo(url.username)}:${unescapeUserinfo(url.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  for (const { name, value } of request.headers) {
    // The Host header is that of the URL, as in the real client.
    if (name.toLowerCase() !== 'host') headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** A "%" that starts no escape is literal. */
function unescapeUserinfo(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
}

function redirectTarget(from: URL, location: string): URL | string {
  const target = URL.parse(location, from);
  if (target === null) return 'it redirects to something that is not a URL';
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    return `it redirects to a ${target.protocol} URL; Slipway follows only http and https`;
  }
  if (from.protocol === 'https:' && target.protocol === 'http:') {
    return `it redirects from https to http (${target.host}), which would drop TLS`;
  }
  return target;
}

async function get(
  url: URL,
  headers: Record<string, string>,
  request: FetchRequest,
  lookup: LookupAll,
): Promise<Attempt | { location: string }> {
  let connection: Dispatcher | undefined;
  try {
    const opened = connectionTo(url, proxyFor(url, request.proxy), request, lookup);
    if (typeof opened === 'string') return { ok: false, problem: opened };
    connection = opened;
    const response = await send(url, { dispatcher: connection, headers, signal: request.signal });
    const { location } = response.headers;
    if (REDIRECTS.has(response.statusCode) && typeof location === 'string') return { location };
    return await readAnswer(response, request.maxBytes);
  } catch (failure) {
    if (request.signal.aborted) return { ok: false, problem: tooSlow(request) };
    return { ok: false, problem: describeFailure(failure, url), retry: isTransient(failure) };
  } finally {
    // Also aborts a body that is not read to its end.
    await connection?.destroy();
  }
}

async function readAnswer(response: Dispatcher.ResponseData, maxBytes: number): Promise<Attempt> {
  const { statusCode, body, headers } = response;
  if (statusCode >= 500 || statusCode === 429) {
    const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now()) ?? 0;
    return { ok: false, problem: `the server returned ${statusCode}`, retry: true, retryAfterMs };
  }
  if (statusCode === 404) return { ok: false, problem: 'the server returned 404: there is no such file' };
  if (statusCode !== 200 && statusCode !== 204) return { ok: false, problem: `the server returned ${statusCode}` };
  const bytes = await readBounded(body, maxBytes);
  if (bytes === null) return { ok: false, problem: `it is larger than the limit of ${maxBytes} bytes` };
  return { ok: true, bytes: new Uint8Array(bytes) };
}

const formatRest = (ms: number): string =>
  `the server asked for a pause, of which ${Math.ceil(ms / 1000)} s are left, and is not asked before`;

function tooSlow(request: FetchRequest): string {
  return `no complete response within ${request.timeouts.totalMs / 1000} s`;
}

/** False if the time was up first. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  return wait(ms, true, { signal }).catch(() => false);
}

// A connection that only reaches allowed addresses, and trusts the CAs of the system and the config.

/** Thrown during a connect if a name resolves to no allowed address. */
class AddressRefused extends Error {
  readonly code: ControllerErrorCode = 'SLW_FETCH_ADDRESS';

  constructor(hostname: string, addresses: readonly ResolvedAddress[], hosts: HostPolicy) {
    const [first] = addresses;
    const why =
      first === undefined
        ? 'resolves to no address'
        : `resolves to ${first.address}, which is not allowed: ${whyConnectionRefused(first.address, hosts)}`;
    super(`the host name ${hostname} ${why}`);
    this.name = 'AddressRefused';
  }
}

const CONNECT_TIMEOUT_MS = 30_000;
const IDLE_BODY_TIMEOUT_MS = 30_000;

/** A dispatcher for one request, direct or through the proxy; or why there is none. */
function connectionTo(
  url: URL,
  proxy: string | null,
  request: FetchRequest,
  lookupAll: LookupAll,
): Dispatcher | string {
  const { certificateAuthorities } = request;
  // TLS ignores unreadable certificates; a user who configured a CA needs an error.
  if (inspectCertificates(certificateAuthorities.join('\n')).firstUnreadable !== null) {
    return 'ignition.security.tls.certificateAuthorities of the config are not valid PEM certificates';
  }
  // Explicit, so that no environment variable turns verification off.
  const tls = { secureContext: trustAuthorities(certificateAuthorities), rejectUnauthorized: true };
  const connect = {
    lookup: checkedLookup(
      {
        allows: (address) => whyAddressRefused(address, request.hosts) === null,
        refuse: (hostname, addresses) => new AddressRefused(hostname, addresses, request.hosts),
      },
      lookupAll,
    ),
    ...tls,
    timeout: Math.min(CONNECT_TIMEOUT_MS, request.timeouts.totalMs),
  };
  const options = {
    headersTimeout: request.timeouts.responseHeadersMs,
    bodyTimeout: IDLE_BODY_TIMEOUT_MS,
    connections: 1,
    allowH2: false,
  };
  if (proxy === null) return new Agent({ ...options, connect });
  const refused = whyProxyRefused(proxy, request.hosts);
  if (refused !== null) return refused;
  // The proxy resolves the target's name. Our connection is to the proxy, so that is what is checked.
  return new ProxyAgent({ ...options, uri: proxy, proxyTls: connect, requestTls: tls });
}

function whyProxyRefused(proxy: string, hosts: HostPolicy): string | null {
  const url = URL.parse(proxy);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'ignition.proxy of the config is not an http or https URL';
  }
  const refused = whyHostRefused(url.hostname, hosts);
  return refused === null ? null : `the proxy ${url.hostname} is not allowed: ${refused}`;
}

// Network errors as sentences, and whether a retry may help.

const UNTRUSTED =
  'its certificate is not signed by a trusted CA. Add the CA to ignition.security.tls.certificateAuthorities';

const BY_CODE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name does not resolve',
  EAI_AGAIN: 'its host name does not resolve at the moment',
  ECONNREFUSED: 'its host refuses the connection',
  ECONNRESET: 'the connection was closed before the response was complete',
  UND_ERR_SOCKET: 'the connection was closed before the response was complete',
  UND_ERR_CONNECT_TIMEOUT: 'its host did not accept the connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'the server did not respond in time',
  UND_ERR_BODY_TIMEOUT: 'the server stopped sending in the middle of its response',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response is shorter or longer than its Content-Length',
  UND_ERR_INVALID_ARG: 'a request header is invalid',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

const TRANSIENT: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Never the raw message: it may quote a header or a URL with credentials. */
function describeFailure(failure: unknown, url: URL): string {
  const refused = listCauses(failure).find((cause) => cause instanceof AddressRefused);
  if (refused !== undefined) return refused.message;
  const codes = systemCodes(failure);
  const known = codes.find((code) => Object.hasOwn(BY_CODE, code));
  if (known !== undefined) return `${BY_CODE[known]} (${url.host}, ${known})`;
  return `the connection to ${url.host} failed (${codes[0] ?? 'no reason given'})`;
}

function isTransient(failure: unknown): boolean {
  return systemCodes(failure).some((code) => TRANSIENT.has(code));
}
