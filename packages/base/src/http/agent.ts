// Connections: whom they trust, and what all clients set the same way.
import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Agent } from 'undici';

/**
 * HTTP/1.1, because over HTTP/2 what is read slowly and everything else would share one connection's window. Clients with
 * a proxy or a client certificate of their own make their agent with these.
 */
export const agentDefaults = { allowH2: false, pipelining: 1, maxHeaderSize: 64 * 1024 } as const;

export interface AgentOptions {
  /** Of the URLs it is for. */
  readonly protocol: string;
  /** Trusted beside those of Node and of the system: certificates in PEM. */
  readonly ca?: string | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

/** That certificates are verified is said outright, so that no environment variable turns it off. */
export function createAgent({ protocol, ca, connectTimeoutMs }: AgentOptions): Agent {
  const timeout = connectTimeoutMs === undefined ? {} : { timeout: connectTimeoutMs };
  const tls =
    protocol === 'https:'
      ? { secureContext: trustAuthorities(ca === undefined ? [] : [ca]), rejectUnauthorized: true }
      : {};
  return new Agent({ ...agentDefaults, connect: { ...timeout, ...tls } });
}

let lastTrust: { readonly key: string; readonly context: SecureContext } | undefined;

/**
 * The authorities of Node, of the system, and these. To read 150 certificates takes a tenth of a second: the last answer
 * is kept. What is no certificate is passed over, so look at it with inspectCertificates before.
 */
export function trustAuthorities(pems: readonly string[]): SecureContext {
  const key = pems.join('\n');
  if (lastTrust?.key === key) return lastTrust.context;
  const roots = new Set([...getCACertificates('default'), ...getCACertificates('system'), ...pems]);
  lastTrust = { key, context: createSecureContext({ ca: [...roots] }) };
  return lastTrust.context;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

export interface Certificates {
  readonly found: number;
  /** Counted from 1; null: all of them can be read. */
  readonly firstUnreadable: number | null;
}

/** TLS passes over what it cannot read, and the mistake would show as a host that is not trusted. */
export function inspectCertificates(pem: string): Certificates {
  const found = pem.match(CERTIFICATE) ?? [];
  const unreadable = found.findIndex((each) => !isCertificate(each));
  return { found: found.length, firstUnreadable: unreadable === -1 ? null : unreadable + 1 };
}

function isCertificate(pem: string): boolean {
  try {
    void new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}
