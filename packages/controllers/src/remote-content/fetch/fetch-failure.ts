// What went wrong on the network, in words, and whether trying again may help.
import { AddressRefused } from './connection.ts';

const UNTRUSTED =
  'its certificate is not signed by a trusted authority; add the authority to ignition.security.tls.certificateAuthorities';

const BY_CODE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name of its host cannot be resolved',
  EAI_AGAIN: 'the name of its host cannot be resolved at the moment',
  ECONNREFUSED: 'its host refuses the connection',
  ECONNRESET: 'the connection was closed before the answer was complete',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_CONNECT_TIMEOUT: 'its host does not accept the connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'the server does not answer in time',
  UND_ERR_BODY_TIMEOUT: 'the server stopped sending in the middle of its answer',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is shorter or longer than it says',
  UND_ERR_INVALID_ARG: 'a header of the request is not valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

const TRANSIENT: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Never the raw message: it may quote a header or a URL with credentials. */
export function describeFailure(failure: unknown, url: URL): string {
  const refused = chainOf(failure).find((cause) => cause instanceof AddressRefused);
  if (refused !== undefined) return refused.message;
  const codes = chainOf(failure).map(codeOf);
  const known = codes.find((code) => Object.hasOwn(BY_CODE, code));
  if (known !== undefined) return `${BY_CODE[known]} (${url.host}, ${known})`;
  return `the connection to ${url.host} failed (${codes.find((code) => code !== '') ?? 'no reason given'})`;
}

export function isTransient(failure: unknown): boolean {
  return chainOf(failure).some((cause) => TRANSIENT.has(codeOf(cause)));
}

/** The failure and what caused it; a connect to several addresses fails with several. */
function chainOf(failure: unknown): Error[] {
  const chain: Error[] = [];
  const queue: unknown[] = [failure];
  for (const each of queue) {
    if (!(each instanceof Error) || chain.length >= 10) continue;
    chain.push(each);
    queue.push(each.cause, ...(each instanceof AggregateError ? each.errors : []));
  }
  return chain;
}

function codeOf(failure: Error): string {
  return 'code' in failure && typeof failure.code === 'string' ? failure.code : '';
}
