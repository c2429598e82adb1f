import { readSubject } from '@slipway/base/certificate';
import { decodeDataUrl } from '@slipway/ignition';

/**
 * Who signs the certificates of machine config servers: the installer's root, and the CA that rotates, with the number
 * of its key where it is ours. Whatever another name has was put there by somebody, for some other server.
 */
const SERVER_AUTHORITIES = [/^OU=openshift\nCN=root-ca$/, /^CN=machine-config-server-ca(?: [0-9a-f]{16})?$/];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

export interface AuthoritySource {
  readonly source?: string;
  readonly compression?: string;
}

/** Whether an entry of certificateAuthorities holds the server's CA and nothing else. What cannot be read is not it. */
export function isServerAuthority({ source, compression }: AuthoritySource): boolean {
  if (source === undefined || (compression ?? '') !== '') return false;
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) return false;
  const certificates = new TextDecoder().decode(decoded.bytes).match(CERTIFICATE) ?? [];
  return certificates.length > 0 && certificates.every(isOfServer);
}

function isOfServer(pem: string): boolean {
  const subject = readSubject(pem);
  return subject !== null && SERVER_AUTHORITIES.some((name) => name.test(subject));
}
