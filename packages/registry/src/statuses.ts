import { parseRetryAfter } from '@slipway/base/http';
import { isRecord, parseJson } from '@slipway/base/json';
import { RegistryError } from './errors.ts';
import type { Asked, RegistryErrorCode } from './errors.ts';
import { readBytes } from './bytes.ts';
import type { Answer } from './transport.ts';

const mostErrorBytes = 64 * 1024;

/** Which error an answer means that is not a success. Of its body only the code that the registry gives is shown. */
export async function failureOf(answer: Answer, asked: Asked, login: string, now: number): Promise<RegistryError> {
  const { status } = answer;
  const retryAfterMs = parseRetryAfter(answer.header('retry-after'), now);
  const code = codeOf(status);
  const said = await codeIn(answer, asked);
  const found = said === undefined ? `status ${status}` : `status ${status} (${said})`;
  const text = `expected the answer, found ${found}. ${wayOut(code, login, retryAfterMs)}`;
  return new RegistryError(code, text, { asked: { ...asked, host: answer.host }, status, retryAfterMs });
}

function codeOf(status: number): RegistryErrorCode {
  if (status === 401 || status === 403) return 'SLW_REGISTRY_UNAUTHORIZED';
  if (status === 404 || status === 410) return 'SLW_REGISTRY_NOT_FOUND';
  if (status === 429) return 'SLW_REGISTRY_THROTTLED';
  if (status >= 500 || status === 408) return 'SLW_REGISTRY_SERVER';
  return 'SLW_REGISTRY_ANSWER';
}

function wayOut(code: RegistryErrorCode, login: string, retryAfterMs: number | undefined): string {
  if (code === 'SLW_REGISTRY_UNAUTHORIZED') {
    return `${login}. Put a login that may pull this image into the pull secret, under this host or a part of it`;
  }
  if (code === 'SLW_REGISTRY_NOT_FOUND') {
    return `Check the name, tag and digest; some registries say this of images that the login may not see (${login})`;
  }
  if (code === 'SLW_REGISTRY_THROTTLED') {
    const when = retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`;
    return `It wants to be asked again ${when}; a login in the pull secret often raises the limit (${login})`;
  }
  return code === 'SLW_REGISTRY_SERVER' ? "Check the registry's log" : 'Check that this is the address of a registry';
}

/** The code in the error document of a registry, such as MANIFEST_UNKNOWN. */
async function codeIn(answer: Answer, asked: Asked): Promise<string | undefined> {
  try {
    const bytes = await readBytes(answer.body, mostErrorBytes, asked);
    const document = parseJson(bytes.toString('utf8'));
    const errors: unknown = document.ok && isRecord(document.value) ? document.value['errors'] : undefined;
    const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
    const code: unknown = isRecord(first) ? first['code'] : undefined;
    return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,50}$/.test(code) ? code : undefined;
  } catch {
    // No document, or no end of it: the status says enough.
    return undefined;
  }
}
