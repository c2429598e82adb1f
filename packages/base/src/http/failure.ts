// Why a request failed, or its response is incomplete. Each client words its own remediation.

export type FailureKind =
  /** The certificate is expired, for another host, or from an untrusted authority. */
  | 'untrusted'
  /** The host does not use TLS, or only an unsupported version. */
  | 'tls'
  /** No connection: unknown host, no route, nothing listens, or connect timeout. */
  | 'unreachable'
  /** Connected, but no data arrived in time. */
  | 'timeout'
  /** The connection closed before the response was complete. */
  | 'closed'
  /** The response is not HTTP. The error contains the received bytes, so do not keep it as a cause. */
  | 'not-http'
  /** The response headers exceed the limit. */
  | 'large-headers'
  | 'unknown';

export interface Failure {
  readonly kind: FailureKind;
  /** Code of the system, of TLS, of HTTP/2 or of undici. '' if there is none. */
  readonly code: string;
}

const kindByCode: ReadonlyMap<string, FailureKind> = new Map<string, FailureKind>([
  ['ECONNREFUSED', 'unreachable'],
  ['ENOTFOUND', 'unreachable'],
  ['EAI_AGAIN', 'unreachable'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['ENETDOWN', 'unreachable'],
  ['UND_ERR_CONNECT_TIMEOUT', 'unreachable'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['TimeoutError', 'timeout'],
  ['UND_ERR_SOCKET', 'closed'],
  ['ECONNRESET', 'closed'],
  ['EPIPE', 'closed'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'closed'],
  ['UND_ERR_HEADERS_OVERFLOW', 'large-headers'],
]);

const UNTRUSTED =
  /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;
const NO_TLS = /^(ERR_SSL_|EPROTO$)/;
const HTTP2 = /^ERR_HTTP2_/;

export function classifyFailure(error: unknown): Failure {
  const code = systemCode(error);
  return { kind: kindByCode.get(code) ?? kindByPattern(error, code), code };
}

function kindByPattern(error: unknown, code: string): FailureKind {
  if (UNTRUSTED.test(code)) return 'untrusted';
  if (NO_TLS.test(code)) return 'tls';
  if (HTTP2.test(code)) return 'closed';
  return listCauses(error).some(({ name }) => name === 'HTTPParserError') ? 'not-http' : 'unknown';
}

/** The first code of systemCodes. '' if there is none. */
export const systemCode = (error: unknown): string => systemCodes(error)[0] ?? '';

/** The codes of an error and its causes: of the system, of TLS, of undici, or `TimeoutError`. */
export const systemCodes = (error: unknown): string[] => listCauses(error).flatMap(readErrorCode);

/** A connect to several addresses fails with several errors. Causes can be circular. */
const MAX_CAUSES = 10;

/** The error and its causes, the nearest first. */
export function listCauses(error: unknown): Error[] {
  const chain: Error[] = [];
  const queue: unknown[] = [error];
  for (const each of queue) {
    if (chain.length >= MAX_CAUSES) break;
    if (!(each instanceof Error)) continue;
    chain.push(each);
    queue.push(...(each instanceof AggregateError ? each.errors : []), each.cause);
  }
  return chain;
}

function readErrorCode(error: Error): string[] {
  // The code of a DOMException is a number.
  if ('code' in error && typeof error.code === 'string') return [error.code];
  return error.name === 'TimeoutError' ? ['TimeoutError'] : [];
}
