// A connection that can only be made to allowed addresses, and trusts the system's and the config's authorities.
import { type FetchRequest, type HostPolicy, whyAddressRefused, whyHostRefused } from '@slipway/ignition';
import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { ControllerErrorCode } from '../../errors.ts';

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** All addresses a name stands for. */
export type LookupAll = (hostname: string) => Promise<ResolvedAddress[]>;

export const systemLookup: LookupAll = (hostname) => lookup(hostname, { all: true });

/** Thrown from inside a connect when a name stands for no allowed address. */
export class AddressRefused extends Error {
  readonly code: ControllerErrorCode = 'SLW_FETCH_ADDRESS';

  constructor(hostname: string, addresses: readonly ResolvedAddress[], hosts: HostPolicy) {
    const [first] = addresses;
    const why =
      first === undefined
        ? 'stands for no address'
        : `stands for ${first.address}, which is refused: ${whyAddressRefused(first.address, hosts)}`;
    super(`the name ${hostname} ${why}`);
    this.name = 'AddressRefused';
  }
}

const CONNECT_TIMEOUT_MS = 30_000;
const IDLE_BODY_TIMEOUT_MS = 30_000;

/** A dispatcher for one request, direct or through the proxy; or why there can be none. */
export function connectionTo(
  url: URL,
  proxy: string | null,
  request: FetchRequest,
  lookupAll: LookupAll,
): Dispatcher | string {
  const secureContext = trust(request.certificateAuthorities);
  if (secureContext === null) return 'the certificate authorities of the config are not readable PEM certificates';
  const connect = {
    lookup: checkedLookup(request.hosts, lookupAll),
    secureContext,
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
  // The target's name is looked up by the proxy; what we connect to, and so check, is the proxy itself.
  return new ProxyAgent({ ...options, uri: proxy, proxyTls: connect, requestTls: { secureContext } });
}

function whyProxyRefused(proxy: string, hosts: HostPolicy): string | null {
  const url = URL.parse(proxy);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'the proxy of the config is not an http or https URL';
  }
  const refused = whyHostRefused(url.hostname, hosts);
  return refused === null ? null : `the proxy ${url.hostname} is refused: ${refused}`;
}

/** Gives a connect only the addresses that are allowed. Node calls it for names; addresses in URLs are checked before. */
function checkedLookup(hosts: HostPolicy, lookupAll: LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    const answer = async () => {
      const found = await allowedAddresses(hostname, hosts, lookupAll);
      if (found instanceof Error) callback(found, '');
      else if (options.all === true) callback(null, found);
      else callback(null, found[0].address, found[0].family);
    };
    void answer();
  };
}

async function allowedAddresses(
  hostname: string,
  hosts: HostPolicy,
  lookupAll: LookupAll,
): Promise<[ResolvedAddress, ...ResolvedAddress[]] | Error> {
  try {
    const found = await lookupAll(hostname);
    const [first, ...rest] = found.filter(({ address }) => whyAddressRefused(address, hosts) === null);
    return first === undefined ? new AddressRefused(hostname, found, hosts) : [first, ...rest];
  } catch (failure) {
    return failure instanceof Error ? failure : new Error('the lookup failed');
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

let lastTrust: { key: string; context: SecureContext } | undefined;

/** The system's authorities and these. Kept from one request to the next, because reading 150 certificates takes time. */
function trust(pems: readonly string[]): SecureContext | null {
  const key = pems.join('\n');
  if (lastTrust?.key === key) return lastTrust.context;
  try {
    // createSecureContext passes over what it cannot read; a person who named an authority wants to be told.
    for (const [certificate] of key.matchAll(CERTIFICATE)) void new X509Certificate(certificate);
    const roots = new Set([...getCACertificates('default'), ...getCACertificates('system'), ...pems]);
    lastTrust = { key, context: createSecureContext({ ca: [...roots] }) };
    return lastTrust.context;
  } catch {
    return null;
  }
}
