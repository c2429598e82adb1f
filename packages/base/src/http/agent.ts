// Connection settings that all clients share: trust and protocol.
import { X509Certificate } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Agent } from 'undici';

/**
 * HTTP/1.1, because over HTTP/2 a slowly read body and all other requests would share the window of one connection.
 * Clients that need a proxy or a client certificate create their own agent with these settings.
 */
export const agentDefaults = { allowH2: false, pipelining: 1, maxHeaderSize: 64 * 1024 } as const;

export interface AgentOptions {
  /** Protocol of the URLs. */
  readonly protocol: string;
  /** PEM certificates to trust in addition to those of Node and of the system. */
  readonly ca?: string | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Resolves names; by default that of the system. */
  readonly lookup?: LookupFunction | undefined;
}

/** Verification is set explicitly, so that no environment variable can turn it off. */
export function createAgent({ protocol, ca, connectTimeoutMs, lookup }: AgentOptions): Agent {
  const timeout = connectTimeoutMs === undefined ? {} : { timeout: connectTimeoutMs };
  const tls =
    protocol === 'https:'
      ? { secureContext: trustAuthorities(ca === undefined ? [] : [ca]), rejectUnauthorized: true }
      : {};
  return new Agent({ ...agentDefaults, connect: { ...timeout, ...tls, ...(lookup !== undefined && { lookup }) } });
}

let lastTrust: { readonly key: string; readonly context: SecureContext } | undefined;

/**
 * Trusts the authorities of Node, of the system, and these. Parsing 150 certificates takes 0.1 seconds, so the last
 * result is cached. Invalid certificates are ignored, so check them with inspectCertificates first.
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
  /** Counted from 1. Null: all are valid. */
  readonly firstUnreadable: number | null;
}

/** TLS ignores invalid certificates; the mistake would only show as an untrusted host. */
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
