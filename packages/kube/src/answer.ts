import type { Dispatcher } from 'undici';
import { tokenExpiry } from './credentials.ts';
import { KubeError } from './errors.ts';
import { errorOf } from './status.ts';
import type { Status } from './status.ts';

/** What was asked, as far as an answer must be explained with it. */
interface Asked {
  what: string;
  method: string;
}

export async function readText(
  body: Dispatcher.ResponseData['body'],
  what: string,
  largestAnswer: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > largestAnswer) {
      body.destroy();
      throw new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: the answer is longer than ${largestAnswer} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: the answer is not JSON`, { cause });
  }
}

/** Which error an answer means that is none of the 2xx. */
export function failureOf(
  answer: Dispatcher.ResponseData,
  text: string,
  asked: Asked,
  token: string | undefined,
): KubeError {
  const after = answer.headers['retry-after'];
  const error = errorOf({
    status: answer.statusCode,
    body: statusIn(text),
    retryAfter: Array.isArray(after) ? after[0] : after,
    what: asked.what,
    write: asked.method !== 'GET',
  });
  if (error.code !== 'SLW_KUBE_UNAUTHORIZED' || token === undefined) return error;
  const end = tokenExpiry(token);
  if (end === undefined || end.getTime() > Date.now()) return error;
  const text401 = `${asked.what}: the token expired at ${end.toISOString()}. Log in again, or give a kubeconfig with a valid token`;
  return new KubeError(error.code, text401, { status: 401, reason: error.reason });
}

function statusIn(text: string): Status | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && 'kind' in body && body.kind === 'Status'
      ? (body as Status)
      : undefined;
  } catch {
    return undefined;
  }
}
