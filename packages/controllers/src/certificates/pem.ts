import { X509Certificate } from 'node:crypto';

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
/** Far more than ever overlap; what is longer was not written by us. */
const most = 32;

/** The certificates of a PEM text, in their order. Blocks that are no certificate are counted, not returned. */
export function certificatesIn(pem: string): { certificates: X509Certificate[]; unreadable: number } {
  const blocks = pem.match(block)?.slice(0, most) ?? [];
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
