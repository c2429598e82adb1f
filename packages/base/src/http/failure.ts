// Why a request got no answer, or not all of it. What to do about it is for each client to say in its own words.

export type FailureKind =
  /** Its certificate is expired, for another host, or of an authority that is not trusted. */
  | 'untrusted'
  /** It does not speak TLS, or not one that we do. */
  | 'tls'
  /** No connection: no such host, no way there, nothing listens, or it does not accept in time. */
  | 'unreachable'
  /** The connection stands, and nothing came in time. */
  | 'timeout'
  /** The connection ended before the answer did. */
  | 'closed'
  /** It answers, but not in HTTP. The error holds the bytes that came: not to be kept as a cause. */
  | 'not-http'
  /** The headers of the answer are larger than allowed. */
  | 'large-headers'
  | 'unknown';

export interface Failure {
  readonly kind: FailureKind;
  /** Of the system, of TLS or of undici; '' where there is none. */
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
  ['UND_ERR_HEADERS_OVERFLOW', 'large-headers'],
]);

const UNTRUSTED =
  /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;
const NO_TLS = /^(ERR_SSL_|EPROTO$)/;

export function classifyFailure(error: unknown): Failure {
  const code = systemCode(error);
  return { kind: kindByCode.get(code) ?? kindByPattern(error, code), code };
}

function kindByPattern(error: unknown, code: string): FailureKind {
  if (UNTRUSTED.test(code)) return 'untrusted';
  if (NO_TLS.test(code)) return 'tls';
  return listCauses(error).some(({ name }) => name === 'HTTPParserError') ? 'not-http' : 'unknown';
}

/** The first code of systemCodes; '' where there is none. */
export const systemCode = (error: unknown): string => systemCodes(error)[0] ?? '';

/** The codes of an error and of its causes: of the system, of TLS, of undici, or `TimeoutError`. */
export const systemCodes = (error: unknown): string[] => listCauses(error).flatMap(readErrorCode);

/** A connect to several addresses fails with several errors. A cause may go in circles. */
const MAX_CAUSES = 10;

/** The error, and below it what it was caused by: the nearest first. */
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
