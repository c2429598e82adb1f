import { createPrivateKey, type KeyObject, randomBytes, type X509Certificate } from 'node:crypto';
import * as x509 from './x509.ts';
import {
  BACKDATED_MS,
  certificatesIn,
  exportKey,
  generateKeys,
  selfSign,
  sign,
  validFor,
  type Validity,
} from './signature.ts';

/** The CA of the machine config server, and what machines that trust an earlier CA need. Everything is PEM. */
export interface Authority {
  certificate: string;
  key: string;
  /** Earlier CAs that have not expired, newest first. Their keys were deleted after they signed their successor. */
  older: readonly string[];
  /** The chain from the CA to the older ones, newest first: each certifies the key of a CA by its predecessor. */
  crossSigned: readonly string[];
}

/** A self-signed CA without history. */
export async function makeAuthority(now: Date, validityMs: number): Promise<Authority> {
  return { ...(await newPair(validFor(now.getTime(), validityMs))), older: [], crossSigned: [] };
}

/**
 * A new CA whose key is also certified by the old CA. Machines that know only the old CA trust a server that sends this
 * cross-signed certificate. It is valid as long as any of the older CAs, so that a policy with a shorter validity does
 * not cut off machines that trust an older CA; and since their start, because the clock may be ahead: the old key is
 * deleted, so nothing can sign again when it is right.
 */
export async function rotateAuthority(old: Authority, now: Date, validityMs: number): Promise<Authority> {
  const validity = validFor(now.getTime(), validityMs);
  const next = await newPair(validity);
  const remembered = withoutExpired(old, now);
  const older = [old.certificate, ...remembered.older];
  const validities = older.map(readValidity);
  const { subjectName, publicKey } = new x509.X509Certificate(next.certificate);
  const crossSigned = await sign(old, {
    subject: subjectName,
    publicKey,
    validity: {
      from: Math.min(validity.from, ...validities.map(({ from }) => from)),
      to: Math.max(...validities.map(({ to }) => to)),
    },
    extensions: await authorityExtensions(publicKey),
  });
  return { ...next, older, crossSigned: [crossSigned, ...remembered.crossSigned] };
}

/** Removes expired certificates. */
export function withoutExpired(authority: Authority, now: Date): Authority {
  const isValid = (pem: string): boolean => readValidity(pem).to > now.getTime();
  return {
    ...authority,
    older: authority.older.filter(isValid),
    crossSigned: authority.crossSigned.filter(isValid),
  };
}

async function newPair(validity: Validity): Promise<{ certificate: string; key: string }> {
  const keys = await generateKeys();
  const certificate = await selfSign(keys, {
    // The name of each CA is unique, because verifiers look issuers up by name.
    subject: [{ CN: [`machine-config-server-ca ${randomBytes(8).toString('hex')}`] }],
    validity,
    extensions: await authorityExtensions(keys.publicKey),
  });
  return { certificate, key: await exportKey(keys.privateKey) };
}

/** No path length limit: every overlapping rotation adds a link. */
async function authorityExtensions(publicKey: x509.PublicKeyType): Promise<x509.Extension[]> {
  return [
    new x509.BasicConstraintsExtension(true, undefined, true),
    new x509.KeyUsagesExtension(
      x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
      true,
    ),
    await x509.SubjectKeyIdentifierExtension.create(publicKey),
  ];
}

/** PEM of every CA that a machine should trust now, newest first. */
export const buildCaBundle = ({ certificate, older }: Authority): string => [certificate, ...older].join('');

export function readValidity(pem: string): Validity {
  const [certificate] = certificatesIn(pem).certificates;
  if (certificate === undefined) throw new Error('expected a certificate in PEM; this is a bug');
  return { from: certificate.validFromDate.getTime(), to: certificate.validToDate.getTime() };
}

/** The keys of the Secret that stores an authority. */
export const authorityFields = ['tls.crt', 'tls.key', 'ca-bundle.crt', 'cross-signed.crt'] as const;
export type AuthorityData = Partial<Record<(typeof authorityFields)[number], string>>;

export const authorityData = (authority: Authority): Required<AuthorityData> => ({
  'tls.crt': authority.certificate,
  'tls.key': authority.key,
  'ca-bundle.crt': buildCaBundle(authority),
  'cross-signed.crt': authority.crossSigned.join(''),
});

export type ReadAuthority = { ok: true; authority: Authority } | { ok: false; field: string; problem: string };

/**
 * Reads the CA from a Secret. Fails without a certificate and its matching key. Everything else can be repaired, so
 * invalid parts are dropped.
 */
export function readAuthority(data: AuthorityData): ReadAuthority {
  const [certificate] = certificatesIn(data['tls.crt'] ?? '').certificates;
  if (certificate?.ca !== true)
    return { ok: false, field: 'tls.crt', problem: 'expected the certificate of a CA in PEM' };
  const key = readKey(data['tls.key'] ?? '');
  if (key === undefined || !certificate.checkPrivateKey(key)) {
    return { ok: false, field: 'tls.key', problem: 'expected the private key of tls.crt in PEM' };
  }
  const others = certificatesIn(data['ca-bundle.crt'] ?? '').certificates;
  const older = others.filter((each) => each.ca && !isSame(each, certificate)).map(toPem);
  const crossSigned = wayBack(certificate, certificatesIn(data['cross-signed.crt'] ?? '').certificates).map(toPem);
  return { ok: true, authority: { certificate: toPem(certificate), key: keyPem(key), older, crossSigned } };
}

/** The chain from the CA: each certificate is for the issuer of the one before it. Others are useless and dropped. */
function wayBack(from: X509Certificate, candidates: readonly X509Certificate[]): X509Certificate[] {
  const way: X509Certificate[] = [];
  let subject = from.subject;
  for (const candidate of candidates) {
    const connects = way.length > 0 || candidate.publicKey.equals(from.publicKey);
    if (!candidate.ca || candidate.subject !== subject || !connects) continue;
    way.push(candidate);
    subject = candidate.issuer;
  }
  return way;
}

export function readKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

export const keyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' });
export const toPem = (certificate: X509Certificate): string => certificate.toString();
const isSame = (a: X509Certificate, b: X509Certificate): boolean => a.fingerprint256 === b.fingerprint256;

/** All in milliseconds. */
export interface Lifetime {
  validity: number;
  /** The age at which it is replaced. */
  refresh: number;
}

/** The CA in the Secret. */
export type KeptAuthority =
  | { state: 'absent' }
  | { state: 'unusable' }
  | {
      state: 'usable';
      validity: Validity;
      /** When each earlier CA and cross-signed certificate expires. */
      ends: readonly number[];
      /** Stored in a non-canonical form: adopted from another operator, or edited by hand. */
      untidy: boolean;
    };

export type AuthorityStep =
  | { do: 'make'; why: 'absent' | 'unusable' | 'expired' }
  | { do: 'rotate' }
  | { do: 'tidy' }
  | { do: 'keep'; until: number };

export function nextAuthority(kept: KeptAuthority, now: number, policy: Lifetime): AuthorityStep {
  if (kept.state !== 'usable') return { do: 'make', why: kept.state };
  // No machine trusts an expired CA, so it cannot vouch for a new one.
  if (kept.validity.to <= now) return { do: 'make', why: 'expired' };
  // Signed while a clock was ahead: no machine accepts it yet. It may already be in stubs, so it is not forgotten.
  if (kept.validity.from > now) return { do: 'rotate' };
  const due = refreshAt(kept.validity, policy);
  if (due <= now) return { do: 'rotate' };
  if (kept.untidy || kept.ends.some((end) => end <= now)) return { do: 'tidy' };
  return { do: 'keep', until: Math.min(due, ...kept.ends) };
}

/**
 * For a certificate that we issued under this policy, both terms are equal. One that was issued under another policy,
 * or by another program, is replaced at the age of this policy, and always with at least the remaining validity that it
 * guarantees.
 */
export const refreshAt = ({ from, to }: Validity, { validity, refresh }: Lifetime): number =>
  Math.min(from + BACKDATED_MS + refresh, to - (validity - refresh));
