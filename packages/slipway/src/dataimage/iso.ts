// Checks the URL of an ISO: whether Ironic accepts it, and whether it serves an ISO.
import { CommandError } from '../cli/errors.ts';

const MAX_URL_CHARACTERS = 2048;

export function checkImageUrl(text: string): URL {
  const problem = parseImageUrl(text);
  if (typeof problem !== 'string') return problem;
  throw new CommandError('SLW_CLI_DATA_IMAGE', `the URL of the ISO: ${problem}`);
}

function parseImageUrl(text: string): URL | string {
  if (text.length > MAX_URL_CHARACTERS)
    return `expected at most ${MAX_URL_CHARACTERS} characters, found ${text.length}`;
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\/[!-~]+$/.test(text)) {
    return `expected http://HOST/PATH or https://HOST/PATH, the only schemes that Ironic fetches, with non-ASCII characters percent-encoded, found ${JSON.stringify(withoutUser(text))}`;
  }
  if (url.username !== '' || url.password !== '') {
    return 'expected no user name or password, found one. Every user who can read the DataImage would see it. Serve the ISO where only the BMC network can reach it';
  }
  return url;
}

/** Keeps passwords out of logs. */
const withoutUser = (text: string): string => text.replace(/\/\/[^/]*@/, '//…@');

// Checks from this machine. Ironic and the BMC may have other network access, so a failure is only a warning.

/** ISO 9660: the identifier of the first volume descriptor, one byte into sector 16. */
const MAGIC = 'CD001';
const MAGIC_AT = 16 * 2048 + 1;

export type IsoCheck =
  | { readonly ok: true }
  | { readonly ok: false; /** A predicate that follows the URL. */ readonly problem: string };

export async function checkIso(url: URL, timeoutMs = 10_000): Promise<IsoCheck> {
  try {
    const answer = await fetch(url, {
      headers: { range: `bytes=${MAGIC_AT}-${MAGIC_AT + MAGIC.length - 1}`, 'accept-encoding': 'identity' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return await checkResponse(answer);
  } catch (error) {
    return { ok: false, problem: `does not respond: ${describeFetchError(error, timeoutMs)}` };
  }
}

async function checkResponse(answer: Response): Promise<IsoCheck> {
  const { status, body } = answer;
  // 416: the file is shorter than that.
  if (status !== 200 && status !== 206 && status !== 416) {
    await body?.cancel();
    return { ok: false, problem: `returns HTTP ${status}${answer.statusText === '' ? '' : ` ${answer.statusText}`}` };
  }
  // A server without range support sends the whole file.
  const from = status === 200 ? MAGIC_AT : 0;
  const found = status === 416 ? await ended(body) : await readAt(body, from);
  return found === MAGIC
    ? { ok: true }
    : { ok: false, problem: `is not an ISO 9660 image: it has no ${MAGIC} at byte ${MAGIC_AT}` };
}

async function ended(body: Response['body']): Promise<string> {
  await body?.cancel();
  return '';
}

/** Stops reading as soon as possible. */
async function readAt(body: Response['body'], from: number): Promise<string> {
  const end = from + MAGIC.length;
  const seen: Uint8Array[] = [];
  let length = 0;
  if (body === null) return '';
  for await (const chunk of body) {
    const bytes: Uint8Array = chunk;
    seen.push(bytes.subarray(0, end - length));
    length += bytes.length;
    // Leaving the loop cancels the rest.
    if (length >= end) break;
  }
  return Buffer.concat(seen).subarray(from, end).toString('latin1');
}

function describeFetchError(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`;
  // The message of fetch is "fetch failed"; its cause has the reason.
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || ('code' in cause ? String(cause.code) : error.message);
}
