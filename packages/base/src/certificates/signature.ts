import { createPrivateKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from './x509.ts';

/** We use ECDSA P-256: small in a stub, cheap in a handshake. */
const ours = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/**
 * The clock of a machine is often behind at its first boot, so certificates are valid from an hour before they are
 * signed. Ages are therefore never computed from `notBefore` alone.
 */
export const BACKDATED_MS = 3_600_000;

/** Milliseconds since 1970, both ends included. */
export interface Validity {
  from: number;
  to: number;
}

export const validFor = (now: number, ms: number): Validity => ({ from: now - BACKDATED_MS, to: now + ms });

export interface Issuer {
  /** PEM of its certificate. */
  certificate: string;
  /** PEM of its private key. */
  key: string;
}

export interface SigningRequest {
  subject: x509.Name | x509.JsonName;
  publicKey: x509.PublicKeyType;
  validity: Validity;
  extensions: readonly x509.Extension[];
}

export async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ours, true, ['sign', 'verify']);
}

/** PEM of a certificate for this key, signed by the issuer. */
export async function sign(issuer: Issuer, request: SigningRequest): Promise<string> {
  const { key, algorithm } = toSigningKey(createPrivateKey(issuer.key));
  return toPem(
    await x509.X509CertificateGenerator.create({
      subject: request.subject,
      issuer: new x509.X509Certificate(issuer.certificate).subjectName,
      notBefore: new Date(request.validity.from),
      notAfter: new Date(request.validity.to),
      signingAlgorithm: algorithm,
      publicKey: request.publicKey,
      signingKey: key,
      extensions: [...request.extensions, await authorityKeyId(issuer.certificate)],
    }),
  );
}

/** PEM of a self-signed certificate. */
export async function selfSign(
  keys: webcrypto.CryptoKeyPair,
  { subject, validity, extensions }: Omit<SigningRequest, 'publicKey'>,
): Promise<string> {
  return toPem(
    await x509.X509CertificateGenerator.createSelfSigned({
      name: subject,
      notBefore: new Date(validity.from),
      notAfter: new Date(validity.to),
      signingAlgorithm: ours,
      keys,
      extensions: [...extensions],
    }),
  );
}

/** A CA that another program created may have an RSA key. */
function toSigningKey(key: KeyObject): { key: webcrypto.CryptoKey; algorithm: webcrypto.Algorithm } {
  const algorithm =
    key.asymmetricKeyType === 'rsa'
      ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
      : { ...ours, namedCurve: curves[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? ours.namedCurve };
  return { key: key.toCryptoKey(algorithm, false, ['sign']), algorithm };
}

const curves: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

/** The key id in the certificate of the issuer. It cannot be recomputed, because another program may have chosen it. */
async function authorityKeyId(certificate: string): Promise<x509.Extension> {
  const issuer = new x509.X509Certificate(certificate);
  const stated = issuer.getExtension(x509.SubjectKeyIdentifierExtension);
  return stated === null
    ? x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey)
    : new x509.AuthorityKeyIdentifierExtension(stated.keyId);
}

const toPem = (certificate: x509.X509Certificate): string => `${certificate.toString('pem')}\n`;

export async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' });
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
/** Far more than can overlap. We never write more. */
const MAX_CERTIFICATES = 32;

/** The certificates in a PEM text, in order. Invalid blocks are counted, not returned. */
export function certificatesIn(pem: string): { certificates: X509Certificate[]; unreadable: number } {
  const blocks = pem.match(BLOCK)?.slice(0, MAX_CERTIFICATES) ?? [];
  const certificates = blocks.flatMap((each) => read(each) ?? []);
  return { certificates, unreadable: blocks.length - certificates.length };
}

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
