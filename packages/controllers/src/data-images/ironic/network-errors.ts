import { systemCode } from '@slipway/base/http';
import { IronicError } from './ironic-error.ts';

const late = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT', 'TimeoutError']);
const ended = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const untrusted =
  /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;

/** What it means that no answer came. */
export function noAnswer(error: unknown, asked: string): IronicError {
  const code = systemCode(error);
  const details = { asked, cause: error };
  if (late.has(code)) return silent(asked, error);
  if (untrusted.test(code)) {
    const text = `expected a certificate that is trusted, found one that is not (${code}). Give the authority that signed it (CA of Ironic); it is never accepted unverified`;
    return new IronicError('SLW_IRONIC_TLS', text, details);
  }
  if (/^(ERR_SSL_|EPROTO$)/.test(code)) {
    const text = `expected TLS, found something else (${code}). Check the port, and whether the URL begins with http or https`;
    return new IronicError('SLW_IRONIC_TLS', text, details);
  }
  if (error instanceof Error && error.name === 'HTTPParserError') {
    // Not as the cause: it holds the bytes that came.
    return new IronicError('SLW_IRONIC_ANSWER', 'expected HTTP, found something else. Check host and port', { asked });
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new IronicError('SLW_IRONIC_LIMIT', 'expected headers of a usual size, found more', { asked });
  }
  if (ended.has(code)) {
    const text = `expected an answer, found that the connection ended (${code}). Check Ironic's log, and what stands between`;
    return new IronicError('SLW_IRONIC_CUT', text, details);
  }
  const text = `expected a connection, found none (${code || 'it broke'}). Check that Ironic runs, its host and port, and the network between`;
  return new IronicError('SLW_IRONIC_UNREACHABLE', text, details);
}

/** What it means that an answer did not come to its end. */
export function cutAnswer(error: unknown, asked: string): IronicError {
  const code = systemCode(error);
  if (late.has(code)) return silent(asked, error);
  const text = `expected the whole answer, found that the connection ended in the middle of it (${code || 'no reason given'}). Check Ironic's log, and what stands between`;
  return new IronicError('SLW_IRONIC_CUT', text, { asked, cause: error });
}

const silent = (asked: string, cause: unknown): IronicError =>
  new IronicError(
    'SLW_IRONIC_SILENT',
    'expected an answer, found none in time. Check the load of Ironic, the network between, and whether the BMC of the host answers',
    { asked, cause },
  );
