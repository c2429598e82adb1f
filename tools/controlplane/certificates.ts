import 'reflect-metadata';
import { X509Certificate, createPrivateKey, createPublicKey, webcrypto, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { writePrivateFile } from './private-file.ts';

const DAY = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 3650;
const IDENTITY_DAYS = 365;
const RENEW_DAYS = 30;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate and its key in one PEM file: written with one rename, so that they always match. */
export interface Identity {
  path: string;
  certificate: string;
  key: string;
}

export interface Subject {
  commonName: string;
  organizations?: readonly string[];
}

export interface IdentityRequest extends Subject {
  /** DNS names and IP addresses of a server; a client has none. */
  hosts?: readonly string[];
}

/** The authority in this file; created if missing, replaced if it is about to expire. */
export async function ensureAuthority(path: string, commonName: string, now = new Date()): Promise<Identity> {
  const kept = await readPair(path);
  if (kept !== undefined && kept.certificate.ca && isCurrent(kept, now)) return toIdentity(path, kept);
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: toJsonName({ commonName }),
    ...validity(now, AUTHORITY_DAYS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return writePair(path, certificate, keys.privateKey);
}

/**
 * The certificate in this file if it is still usable: signed by this authority, for this subject and these hosts, and
 * not about to expire. Otherwise a new one with a new key.
 */
export async function ensureIdentity(
  authority: Identity,
  path: string,
  request: IdentityRequest,
  now = new Date(),
): Promise<Identity> {
  const kept = await readPair(path);
  if (kept !== undefined && isCurrent(kept, now) && fits(kept.certificate, authority, request)) {
    return toIdentity(path, kept);
  }
  const issuer = new x509.X509Certificate(authority.certificate);
  const keys = await generateKeys();
  const hosts = request.hosts ?? [];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: toJsonName(request),
    issuer: issuer.subjectName,
    ...validity(now, IDENTITY_DAYS),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: createPrivateKey(authority.key).toCryptoKey(ALGORITHM, false, ['sign']),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      // A server certificate is valid for a client too: etcd's gateway connects to itself with it.
      new x509.ExtendedKeyUsageExtension(
        hosts.length > 0
          ? [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]
          : [x509.ExtendedKeyUsage.clientAuth],
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...(hosts.length > 0 ? [new x509.SubjectAlternativeNameExtension(hosts.map(generalName))] : []),
    ],
  });
  return writePair(path, certificate, keys.privateKey);
}

/** The key that signs service account tokens, with its public key in the same file: the server needs both. */
export async function ensureSigningKey(path: string): Promise<void> {
  try {
    createPrivateKey(await readFile(path, 'utf8'));
  } catch {
    const key = await exportKey((await generateKeys()).privateKey);
    await writePrivateFile(path, key + createPublicKey(key).export({ type: 'spki', format: 'pem' }));
  }
}

interface Pair {
  certificate: X509Certificate;
  key: KeyObject;
}

/** A missing, unreadable or damaged file is replaced. */
async function readPair(path: string): Promise<Pair | undefined> {
  try {
    const pem = await readFile(path, 'utf8');
    const pair = { certificate: new X509Certificate(pem), key: createPrivateKey(pem) };
    return pair.certificate.checkPrivateKey(pair.key) ? pair : undefined;
  } catch {
    return undefined;
  }
}

function isCurrent({ certificate }: Pair, now: Date): boolean {
  return certificate.validFromDate <= now && certificate.validToDate.getTime() - now.getTime() > RENEW_DAYS * DAY;
}

function fits(certificate: X509Certificate, authority: Identity, request: IdentityRequest): boolean {
  const issuer = new X509Certificate(authority.certificate);
  const subject = [...(request.organizations ?? []).map((name) => `O=${name}`), `CN=${request.commonName}`];
  const hosts = (request.hosts ?? []).map((host) => (isIP(host) ? `IP Address:${host}` : `DNS:${host}`));
  return (
    certificate.checkIssued(issuer) &&
    certificate.verify(issuer.publicKey) &&
    certificate.subject === subject.join('\n') &&
    (certificate.subjectAltName ?? '') === hosts.join(', ')
  );
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function validity(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  // An hour back: clocks of containers and virtual machines on one host differ.
  return { notBefore: new Date(now.getTime() - DAY / 24), notAfter: new Date(now.getTime() + days * DAY) };
}

function toJsonName({ commonName, organizations = [] }: Subject): x509.JsonName {
  return [...organizations.map((name) => ({ O: [name] })), { CN: [commonName] }];
}

function generalName(host: string): x509.JsonGeneralName {
  return { type: isIP(host) ? 'ip' : 'dns', value: host };
}

async function writePair(path: string, certificate: x509.X509Certificate, key: CryptoKey): Promise<Identity> {
  const identity = { path, certificate: `${certificate.toString('pem')}\n`, key: await exportKey(key) };
  await writePrivateFile(path, identity.certificate + identity.key);
  return identity;
}

function toIdentity(path: string, { certificate, key }: Pair): Identity {
  return { path, certificate: certificate.toString(), key: key.export({ type: 'pkcs8', format: 'pem' }) };
}

async function exportKey(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}
