import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { RegistryError } from './errors.ts';

const certificate = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Refuses what is not certificates: Node passes over them, and the mistake would show as an untrusted registry. */
export function checkAuthorities(pem: string | undefined): void {
  if (pem === undefined) return;
  const found = pem.match(certificate) ?? [];
  if (found.length === 0) throw refuse('found none');
  for (const [index, one] of found.entries()) {
    try {
      void new X509Certificate(one);
    } catch {
      throw refuse(`found that number ${index + 1} cannot be read`);
    }
  }
}

const refuse = (found: string): RegistryError =>
  new RegistryError('SLW_REGISTRY_OPTIONS', `registry CA: expected certificates in PEM, ${found}`);

/** The authorities of Node, of the system, and these. Costs a tenth of a second: once a client, at its first TLS connection. */
export function trustWith(pem: string | undefined): SecureContext {
  const roots = new Set([...getCACertificates('default'), ...getCACertificates('system')]);
  return createSecureContext({ ca: pem === undefined ? [...roots] : [...roots, pem] });
}
