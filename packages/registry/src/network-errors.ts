import { RegistryError } from './errors.ts';
import type { Asked } from './errors.ts';

const late = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT', 'TimeoutError']);

const untrusted =
  /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;

/** The code of a system, TLS or undici error, found through its causes. */
function systemCode(error: unknown): string {
  let at: unknown = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    if (at.name === 'TimeoutError') return 'TimeoutError';
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return '';
}

/** What it means that no answer came. */
export function noAnswer(error: unknown, asked: Asked): RegistryError {
  const code = systemCode(error);
  const details = { asked, cause: error };
  if (untrusted.test(code)) {
    const text = `expected a certificate that is trusted, found one that is not (${code}). Give the authority that signed it (registry CA); it is never accepted unverified`;
    return new RegistryError('SLW_REGISTRY_TLS', text, details);
  }
  if (/^(ERR_SSL_|EPROTO$)/.test(code)) {
    const text = `expected TLS, found something else (${code}). Check the port; a registry without TLS must be allowed by its host (plain http)`;
    return new RegistryError('SLW_REGISTRY_TLS', text, details);
  }
  if (late.has(code)) return new RegistryError('SLW_REGISTRY_SILENT', `expected an answer, ${silence}`, details);
  if (error instanceof Error && error.name === 'HTTPParserError') {
    // Not as the cause: it holds the bytes that came.
    const text = 'expected HTTP, found something else. Check host and port';
    return new RegistryError('SLW_REGISTRY_ANSWER', text, { asked });
  }
  const text = `expected a connection, found none (${code || 'it broke'}). Check that the host runs, its name and port, and the network between`;
  return new RegistryError('SLW_REGISTRY_UNREACHABLE', text, details);
}

/** What it means that an answer did not come to its end. */
export function cutAnswer(error: unknown, asked: Asked): RegistryError {
  const code = systemCode(error);
  const details = { asked, cause: error };
  if (late.has(code))
    return new RegistryError('SLW_REGISTRY_SILENT', `expected the rest of the answer, ${silence}`, details);
  const text = `expected the whole answer, found that the connection ended in the middle of it (${code || 'no reason given'}). Check the registry's log and what stands between, such as a proxy with a time limit`;
  return new RegistryError('SLW_REGISTRY_CUT', text, details);
}

const silence = 'found silence for longer than is waited. Check the load of the host and the network between';
