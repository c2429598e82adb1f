import { KubeError } from './errors.ts';

/** Nobody there, or no way to them. */
const noConnection = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const late = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT', 'TimeoutError']);

const untrusted = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export interface LostRequest {
  what: string;
  server: string;
  write: boolean;
  /** Whether any of it may have left: the connection stood and the request was being written. */
  sent: boolean;
}

/** The code of a system, TLS or undici error, found through its causes. */
export function systemCode(error: unknown): string {
  let at: unknown = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    if (at.name === 'TimeoutError') return 'TimeoutError';
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return '';
}

/** What a request that got no answer at all means. */
export function lostRequestError(error: unknown, request: LostRequest): KubeError {
  const { what, server, write, sent } = request;
  const code = systemCode(error);
  const why = code || String(error);
  const details = { cause: error };
  const tls = tlsProblem(code, request);
  if (tls !== undefined) return new KubeError('SLW_KUBE_TLS', `${what}: ${tls}`, details);
  if (write && sent) {
    const text = `${what}: the request was sent to ${server} and no answer came (${why}). It may have been carried out: read the object before trying again`;
    return new KubeError('SLW_KUBE_OUTCOME_UNKNOWN', text, details);
  }
  if (!sent || noConnection.has(code)) {
    const text = `${what}: no connection to ${server} (${why}). Check that the API server runs and that the address in the kubeconfig is right`;
    return new KubeError('SLW_KUBE_UNREACHABLE', text, details);
  }
  if (late.has(code)) {
    return new KubeError('SLW_KUBE_TIMEOUT', `${what}: ${server} did not answer in time`, details);
  }
  return new KubeError('SLW_KUBE_UNREACHABLE', `${what}: the connection to ${server} broke (${why})`, details);
}

function tlsProblem(code: string, { server, sent }: LostRequest): string | undefined {
  if (sent) return undefined;
  if (untrusted.has(code)) {
    return `the certificate of ${server} is not trusted (${code}). Put the CA that signed it into certificate-authority-data of the kubeconfig`;
  }
  if (/^(ERR_SSL_|EPROTO$)/.test(code)) {
    return `${server} does not speak TLS as expected (${code}). Check the address and the port in the kubeconfig`;
  }
  return undefined;
}
