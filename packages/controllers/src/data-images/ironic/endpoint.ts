import { X509Certificate } from 'node:crypto';
import type { IronicAuth } from '@slipway/fleet/hosts';
import { IronicError } from './ironic-error.ts';

const LONGEST_AUTH = 4096;

const refuse = (text: string): IronicError => new IronicError('SLW_IRONIC_OPTIONS', text);

/** The address of Ironic without its version. */
export function parseEndpoint(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refuse('the URL of Ironic: expected http://HOST:PORT or https://HOST:PORT, found something else');
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('the URL of Ironic: expected no user name or password in it. Put them into a file, USERNAME:PASSWORD');
  }
  if (url.search !== '' || url.hash !== '') {
    throw refuse('the URL of Ironic: expected nothing after its path, found a query or a fragment');
  }
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}

/** Refuses what is not certificates: Node passes over them, and the mistake would show as an untrusted Ironic. */
export function checkAuthorities(pem: string): void {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw refuse('the CA of Ironic: expected certificates in PEM, found none');
  for (const [index, one] of found.entries()) {
    try {
      void new X509Certificate(one);
    } catch {
      throw refuse(`the CA of Ironic: expected certificates in PEM, found that number ${index + 1} cannot be read`);
    }
  }
}

/** The one line of a file: USERNAME:PASSWORD. A password may have colons in it. */
export function parseAuth(text: string): IronicAuth {
  const line = text.replace(/\r?\n$/, '');
  const colon = line.indexOf(':');
  // Control characters cannot be sent, and a second line is a mistake. What was found may be a password: it is not shown.
  if (line.length > LONGEST_AUTH || colon < 1 || colon === line.length - 1 || /\p{Cc}/u.test(line)) {
    throw refuse('the credentials for Ironic: expected one line, USERNAME:PASSWORD, found something else');
  }
  return { username: line.slice(0, colon), password: line.slice(colon + 1) };
}
