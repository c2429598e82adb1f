// The CAs that sign the API server's certificate.
import { inspectCertificates } from '@slipway/base/http';
import { type FileOptions, watchFile } from './watched-file.ts';

const START = /-----BEGIN CERTIFICATE-----/g;

/** A bundle may contain the old and the new CA of a rotation. */
export function isAuthorities(pem: string): boolean {
  const { found, firstUnreadable } = inspectCertificates(pem);
  // One that is cut off has no end, and is not found.
  return found > 0 && firstUnreadable === null && found === pem.match(START)?.length;
}

const MAX_BUNDLE_BYTES = 4 * 1024 * 1024;

/** The CAs in a file that may be replaced. While it is missing or invalid, the last valid content counts. */
export function authoritiesFile(path: string, first: string, options: FileOptions): () => Promise<string> {
  const file = watchFile(path, { ...options, maxBytes: MAX_BUNDLE_BYTES }, (cause) => new Error(path, { cause }));
  let last = first;
  return async () => {
    const read = await file.read().catch(() => last);
    if (read !== last && isAuthorities(read)) last = read;
    return last;
  };
}
