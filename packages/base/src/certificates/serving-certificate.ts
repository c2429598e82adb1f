import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type Authority, keyPem, type Lifetime, toPem, readKey, refreshAt } from './authority.ts';
import * as x509 from './x509.ts';
import { certificatesIn, exportKey, generateKeys, sign, validFor, type Validity } from './signature.ts';

/** The certificate that the server presents to machines. Everything is PEM. */
export interface ServingCertificate {
  leaf: string;
  /** Sent with the leaf, so that machines that know only an older CA can verify it. */
  intermediates: readonly string[];
  key: string;
}

/**
 * A certificate for these DNS names and addresses. Its validity may exceed that of its CA: the CA is rotated long
 * before, and this certificate with it.
 */
export async function issueServing(
  authority: Authority,
  hosts: readonly string[],
  now: Date,
  validityMs: number,
): Promise<ServingCertificate> {
  const keys = await generateKeys();
  const leaf = await sign(authority, {
    // The hosts are in the alternative names: the common name is limited to 64 characters, which a host name can
    // exceed.
    subject: [{ CN: ['machine-config-server'] }],
    publicKey: keys.publicKey,
    validity: validFor(now.getTime(), validityMs),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      new x509.SubjectAlternativeNameExtension(hosts.map(generalName)),
    ],
  });
  return { leaf, intermediates: authority.crossSigned, key: await exportKey(keys.privateKey) };
}

const generalName = (host: string): x509.JsonGeneralName => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host });

export type ServingData = Partial<Record<'tls.crt' | 'tls.key', string>>;

export const servingData = ({ leaf, intermediates, key }: ServingCertificate): Required<ServingData> => ({
  'tls.crt': [leaf, ...intermediates].join(''),
  'tls.key': key,
});

export type ReadServing = { ok: true; serving: ServingCertificate } | { ok: false; field: string; problem: string };

export function readServing(data: ServingData): ReadServing {
  const { certificates, unreadable } = certificatesIn(data['tls.crt'] ?? '');
  const [leaf, ...intermediates] = certificates;
  if (leaf === undefined || unreadable > 0) {
    return { ok: false, field: 'tls.crt', problem: 'expected a certificate and its intermediates in PEM' };
  }
  const key = readKey(data['tls.key'] ?? '');
  if (key === undefined || !leaf.checkPrivateKey(key)) {
    return { ok: false, field: 'tls.key', problem: 'expected the private key of tls.crt in PEM' };
  }
  return { ok: true, serving: { leaf: toPem(leaf), intermediates: intermediates.map(toPem), key: keyPem(key) } };
}

export function isIssuedBy(serving: ServingCertificate, authority: Authority): boolean {
  const [leaf, issuer] = [new X509Certificate(serving.leaf), new X509Certificate(authority.certificate)];
  return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
}

/** Whether the certificate is for exactly these hosts. */
export function names(serving: ServingCertificate, hosts: readonly string[]): boolean {
  const leaf = new X509Certificate(serving.leaf);
  const named = leaf.subjectAltName?.split(', ').length ?? 0;
  const fits = (host: string): boolean =>
    (isIP(host) === 0 ? leaf.checkHost(host, { subject: 'never' }) : leaf.checkIP(host)) !== undefined;
  return named === hosts.length && hosts.every(fits);
}

/** The serving certificate in the Secret. */
export type KeptServing =
  | { state: 'absent' }
  | { state: 'unusable' }
  | {
      state: 'usable';
      validity: Validity;
      /** By the current CA, not by an earlier one. */
      issuedByAuthority: boolean;
      namesHosts: boolean;
      /** It has exactly the intermediates that machines with older CAs need. */
      hasIntermediates: boolean;
    };

export type ServingStep =
  | { do: 'issue'; why: 'absent' | 'unusable' | 'authority' | 'hosts' | 'age' | 'clock' }
  | { do: 'rechain'; why: 'intermediates' }
  | { do: 'keep'; until: number };

export function nextServing(kept: KeptServing, now: number, policy: Lifetime): ServingStep {
  if (kept.state !== 'usable') return { do: 'issue', why: kept.state };
  if (!kept.issuedByAuthority) return { do: 'issue', why: 'authority' };
  if (!kept.namesHosts) return { do: 'issue', why: 'hosts' };
  // Signed while a clock was ahead: no machine accepts it yet.
  if (kept.validity.from > now) return { do: 'issue', why: 'clock' };
  const due = refreshAt(kept.validity, policy);
  if (due <= now) return { do: 'issue', why: 'age' };
  return kept.hasIntermediates ? { do: 'keep', until: due } : { do: 'rechain', why: 'intermediates' };
}
