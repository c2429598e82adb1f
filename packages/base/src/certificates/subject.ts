import { X509Certificate } from 'node:crypto';

/** The subject of a PEM certificate, one attribute per line. Null if it is not a certificate. */
export function readSubject(pem: string): string | null {
  try {
    return new X509Certificate(pem).subject;
  } catch {
    return null;
  }
}
