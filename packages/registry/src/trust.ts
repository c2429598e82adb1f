import { inspectCertificates } from '@slipway/base/http';
import { RegistryError } from './errors.ts';

/** Refuses what is not certificates: Node passes over them, and the mistake would show as an untrusted registry. */
export function checkAuthorities(pem: string): void {
  const { found, firstUnreadable } = inspectCertificates(pem);
  if (found === 0) throw refuse('found none');
  if (firstUnreadable !== null) throw refuse(`found that number ${firstUnreadable} cannot be read`);
}

const refuse = (found: string): RegistryError =>
  new RegistryError('SLW_REGISTRY_OPTIONS', `registry CA: expected certificates in PEM, ${found}`);
