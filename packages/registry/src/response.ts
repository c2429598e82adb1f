import { createHash } from 'node:crypto';
import { parseRetryAfter, readBounded } from '@slipway/base/http';
import { isRecord, parseJson } from '@slipway/base/json';
import { type RegistryRequest, RegistryError, type RegistryErrorCode } from './errors.ts';
import type { RegistryResponse } from './transport.ts';

/** Reads a whole body, up to a limit. */
export async function readBytes(
  body: AsyncIterable<Uint8Array>,
  mostBytes: number,
  asked: RegistryRequest,
): Promise<Buffer> {
  const bytes = await readBounded(body, mostBytes);
  if (bytes !== null) return bytes;
  const text = `expected at most ${mostBytes} bytes, found more. Larger responses are not supported`;
  throw new RegistryError('SLW_REGISTRY_LIMIT', text, { asked });
}

export const computeDigest = (bytes: Uint8Array): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export function checkDigest(expected: string, found: string, asked: RegistryRequest): void {
  if (expected !== found) {
    const text = `expected the digest ${expected}, found ${found}. The content was discarded: the registry, or a proxy in between, returned different content`;
    throw new RegistryError('SLW_REGISTRY_DIGEST', text, { asked });
  }
}

/** Compares with the size in the descriptor. Too few bytes may be transient; too many are a different blob. */
export function checkSize(expected: number, found: number, asked: RegistryRequest): void {
  if (found < expected) {
    const text = `expected ${expected} bytes, found only ${found}. Check proxies between here and the registry for time limits`;
    throw new RegistryError('SLW_REGISTRY_CUT', text, { asked });
  }
  if (found > expected) {
    const text = `expected ${expected} bytes, found more. The content was discarded: the registry, or a proxy in between, returned different content`;
    throw new RegistryError('SLW_REGISTRY_DIGEST', text, { asked });
  }
}

const MAX_ERROR_BYTES = 64 * 1024;

/** Converts an unsuccessful response to an error. Of its body, only the error code is shown. */
export async function toRegistryError(
  answer: RegistryResponse,
  asked: RegistryRequest,
  login: string,
  now: number,
): Promise<RegistryError> {
  const { status } = answer;
  const retryAfterMs = parseRetryAfter(answer.header('retry-after'), now);
  const code = toErrorCode(status);
  const reported = await codeIn(answer, asked);
  const found = reported === undefined ? `status ${status}` : `status ${status} (${reported})`;
  const text = `expected status 200, found ${found}. ${formatRemediation(code, login, retryAfterMs)}`;
  return new RegistryError(code, text, { asked: { ...asked, host: answer.host }, status, retryAfterMs });
}

function toErrorCode(status: number): RegistryErrorCode {
  if (status === 401 || status === 403) return 'SLW_REGISTRY_UNAUTHORIZED';
  if (status === 404 || status === 410) return 'SLW_REGISTRY_NOT_FOUND';
  if (status === 429) return 'SLW_REGISTRY_THROTTLED';
  if (status >= 500 || status === 408) return 'SLW_REGISTRY_SERVER';
  return 'SLW_REGISTRY_ANSWER';
}

function formatRemediation(code: RegistryErrorCode, login: string, retryAfterMs: number | undefined): string {
  if (code === 'SLW_REGISTRY_UNAUTHORIZED') {
    return `${login}. Add a login that may pull this image to the pull secret, for this host or for a path on it`;
  }
  if (code === 'SLW_REGISTRY_NOT_FOUND') {
    return `Check the name, tag and digest. Some registries also return this status for images that the login may not see (${login})`;
  }
  if (code === 'SLW_REGISTRY_THROTTLED') {
    const when = retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`;
    return `The registry is rate limiting requests; try again ${when}. A login in the pull secret often raises the limit (${login})`;
  }
  return code === 'SLW_REGISTRY_SERVER'
    ? 'Check the log of the registry'
    : 'Check that this is the address of a registry';
}

/** The code in the error document of a registry, such as MANIFEST_UNKNOWN. */
async function codeIn(answer: RegistryResponse, asked: RegistryRequest): Promise<string | undefined> {
  try {
    const bytes = await readBytes(answer.body, MAX_ERROR_BYTES, asked);
    const document = parseJson(bytes.toString('utf8'));
    const errors: unknown = document.ok && isRecord(document.value) ? document.value['errors'] : undefined;
    const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
    const code: unknown = isRecord(first) ? first['code'] : undefined;
    return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,50}$/.test(code) ? code : undefined;
  } catch {
    // Without a readable document, the status is enough.
    return undefined;
  }
}
