import { X509Certificate } from 'node:crypto';

/** The subject of a certificate in PEM, one attribute a line; null for what is no certificate. */
export function readSubject(pem: string): string | null {
  try {
    return new X509Certificate(pem).subject;
  } catch {
    return null;
  }
}
