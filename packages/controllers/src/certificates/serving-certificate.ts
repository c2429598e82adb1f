import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from './x509.ts';
import { keyPem, pemOf, readKey } from './authority.ts';
import type { Authority } from './authority.ts';
import { certificatesIn } from './pem.ts';
import { exportKey, generateKeys, sign, validFor } from './signature.ts';

/** What the server shows to machines. Everything is PEM. */
export interface ServingCertificate {
  leaf: string;
  /** Sent along, so that machines that know only an older CA find the way to it. */
  intermediates: readonly string[];
  key: string;
}

/**
 * A certificate for these DNS names and addresses. It may outlive its CA on paper: the CA is rotated long before,
 * and with it this certificate.
 */
export async function issueServing(
  authority: Authority,
  hosts: readonly string[],
  now: Date,
  validityMs: number,
): Promise<ServingCertificate> {
  const keys = await generateKeys();
  const leaf = await sign(authority, {
    // The host is in the alternative names; this field holds 64 characters, which a host's name can exceed.
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
  return { ok: true, serving: { leaf: pemOf(leaf), intermediates: intermediates.map(pemOf), key: keyPem(key) } };
}

export function isIssuedBy(serving: ServingCertificate, authority: Authority): boolean {
  const [leaf, issuer] = [new X509Certificate(serving.leaf), new X509Certificate(authority.certificate)];
  return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
}

/** It names these hosts and no others. */
export function names(serving: ServingCertificate, hosts: readonly string[]): boolean {
  const leaf = new X509Certificate(serving.leaf);
  const named = leaf.subjectAltName?.split(', ').length ?? 0;
  const fits = (host: string): boolean =>
    (isIP(host) === 0 ? leaf.checkHost(host, { subject: 'never' }) : leaf.checkIP(host)) !== undefined;
  return named === hosts.length && hosts.every(fits);
}
