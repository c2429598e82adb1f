// Creates new certificates for each test, so that no key is stored in the repository.
import 'reflect-metadata';
import { type KeyObject, sign, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  type Extension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A certificate and its key, as PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** The authority's certificate, as PEM. */
  readonly cert: string;
  /** Signs a certificate. Hosts are DNS names and addresses; 127.0.0.1 by default. */
  issue(commonName: string, hosts?: readonly string[]): Promise<Identity>;
}

export async function makeAuthority(commonName = 'Test Authority'): Promise<Authority> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    ...validity(),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  return {
    cert: certificate.toString('pem'),
    async issue(subject, hosts) {
      const own = await generateKeys();
      const issued = await X509CertificateGenerator.create({
        subject: `CN=${subject}`,
        issuer: certificate.subjectName,
        ...validity(),
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [alternativeNames(hosts)],
      });
      return encode(issued, own.privateKey);
    },
  };
}

/** A self-signed certificate. Hosts as above. */
export async function makeSelfSigned(commonName: string, hosts?: readonly string[]): Promise<Identity> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    ...validity(),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [alternativeNames(hosts)],
  });
  return encode(certificate, keys.privateKey);
}

const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

function validity(): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
}

function alternativeNames(hosts: readonly string[] = ['127.0.0.1']): Extension {
  return new SubjectAlternativeNameExtension(
    hosts.map((host) => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host })),
  );
}

async function encode(certificate: X509Certificate, key: webcrypto.CryptoKey): Promise<Identity> {
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', key);
  return { cert: certificate.toString('pem'), key: PemConverter.encode(pkcs8, 'PRIVATE KEY') };
}

/** A JSON web token, as an API server signs them for service accounts. */
export function signToken(key: KeyObject, claims: object): string {
  const isElliptic = key.asymmetricKeyType === 'ec';
  const encodePart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${encodePart({ alg: isElliptic ? 'ES256' : 'RS256' })}.${encodePart(claims)}`;
  const signature = sign('sha256', Buffer.from(body), isElliptic ? { key, dsaEncoding: 'ieee-p1363' } : key);
  return `${body}.${signature.toString('base64url')}`;
}
