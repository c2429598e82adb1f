// The real fetcher behind `resolve`: http and https through undici. Every hop and every address is checked before a
// connection is made, and the address that was checked is the one connected to, so a name cannot change its mind in between.
import type { Fetched, Fetcher, FetchRequest } from '@slipway/ignition';
import { proxyFor, whyHostRefused } from '@slipway/ignition';
import { setTimeout as wait } from 'node:timers/promises';
import { type Dispatcher, request as send } from 'undici';
import { isTransient, describeFailure } from './fetch-failure.ts';
import { connectionTo, type LookupAll, systemLookup } from './connection.ts';

export interface NodeFetcherOptions {
  /** Tries for one resource, the first included. */
  attempts?: number;
  /** The wait before the second try; it doubles up to five seconds, as the real client's does. */
  backoffMs?: number;
  lookup?: LookupAll;
}

const MAX_BACKOFF_MS = 5000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Asked for by Ignition itself: no HTTP compression, and the newest spec this library reads. */
const OWN_HEADERS: Readonly<Record<string, string>> = {
  'user-agent': 'slipway',
  accept: 'application/vnd.coreos.ignition+json;version=3.6.0, */*;q=0.1',
  'accept-encoding': 'identity',
};

/** An answer, or a reason to try again. */
type Attempt = Fetched & { retry?: boolean };

export function createFetcher(options: NodeFetcherOptions = {}): Fetcher {
  const { attempts = 4, backoffMs = 200, lookup = systemLookup } = options;
  return async (request) => {
    const total = AbortSignal.timeout(Math.ceil(request.timeouts.totalMs));
    const bounded: FetchRequest = { ...request, signal: AbortSignal.any([request.signal, total]) };
    let backoff = backoffMs;
    for (let attempt = 1; ; attempt++) {
      const { retry = false, ...answer } = await follow(bounded, lookup);
      if (answer.ok || !retry) return answer;
      if (attempt >= attempts) return { ok: false, problem: `${answer.problem} (tried ${attempt} times)` };
      if (!(await waited(backoff, bounded.signal))) return { ok: false, problem: tooSlow(request) };
      backoff = Math.min(backoff * 2, MAX_BACKOFF_MS);
    }
  };
}

/** One try: the request and the redirects it leads through. */
async function follow(request: FetchRequest, lookup: LookupAll): Promise<Attempt> {
  let url = new URL(request.url);
  // Only the first request carries the config's headers: the server that redirects must not choose who sees them.
  let headers = headersFor(request, url);
  for (let hop = 0; ; hop++) {
    const refused = whyHostRefused(url.hostname, request.hosts);
    if (refused !== null) return { ok: false, problem: `${via(hop)}the host ${url.hostname} is refused: ${refused}` };
    const answer = await get(url, headers, request, lookup);
    if (!('location' in answer)) return answer;
    const next = redirectTarget(url, answer.location);
    if (typeof next === 'string') return { ok: false, problem: next };
    if (hop >= request.maxRedirects) {
      return { ok: false, problem: `it redirects more often than the limit of ${request.maxRedirects} times` };
    }
    url = next;
    headers = { ...OWN_HEADERS };
  }
}

function via(hop: number): string {
  return hop === 0 ? '' : 'it redirects, but ';
}

function headersFor(request: FetchRequest, url: URL): Record<string, string> {
  const headers: Record<string, string> = { ...OWN_HEADERS };
  // undici leaves out what stands before the @ of a URL; the real client sends it.
  if (url.username !== '' || url.password !== '') {
    const credentials = `${unescapeUserinfo(url.username)}:${unescapeUserinfo(url.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  for (const { name, value } of request.headers) {
    // The host is the URL's, as with the real client.
    if (name.toLowerCase() !== 'host') headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** A "%" that escapes nothing stands for itself. */
function unescapeUserinfo(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
}

function redirectTarget(from: URL, location: string): URL | string {
  const target = URL.parse(location, from);
  if (target === null) return 'it redirects to something that is not a URL';
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    return `it redirects to a ${target.protocol} URL; only http and https are followed`;
  }
  if (from.protocol === 'https:' && target.protocol === 'http:') {
    return `it redirects from https to http (${target.host}), which would lose the protection of https`;
  }
  return target;
}

async function get(
  url: URL,
  headers: Record<string, string>,
  request: FetchRequest,
  lookup: LookupAll,
): Promise<Attempt | { location: string }> {
  let connection: Dispatcher | undefined;
  try {
    const opened = connectionTo(url, proxyFor(url, request.proxy), request, lookup);
    if (typeof opened === 'string') return { ok: false, problem: opened };
    connection = opened;
    const response = await send(url, { dispatcher: connection, headers, signal: request.signal });
    const { location } = response.headers;
    if (REDIRECTS.has(response.statusCode) && typeof location === 'string') return { location };
    return await readAnswer(response, request.maxBytes);
  } catch (failure) {
    if (request.signal.aborted) return { ok: false, problem: tooSlow(request) };
    return { ok: false, problem: describeFailure(failure, url), retry: isTransient(failure) };
  } finally {
    // Also ends a body that nobody reads any further.
    await connection?.destroy();
  }
}

async function readAnswer(response: Dispatcher.ResponseData, maxBytes: number): Promise<Attempt> {
  const { statusCode, body } = response;
  if (statusCode >= 500) return { ok: false, problem: `the server answers ${statusCode}`, retry: true };
  if (statusCode === 404) return { ok: false, problem: 'the server answers 404: there is no such file' };
  if (statusCode !== 200 && statusCode !== 204) return { ok: false, problem: `the server answers ${statusCode}` };
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) return { ok: false, problem: `it is larger than the limit of ${maxBytes} bytes` };
    chunks.push(chunk);
  }
  return { ok: true, bytes: new Uint8Array(Buffer.concat(chunks)) };
}

function tooSlow(request: FetchRequest): string {
  return `no complete answer within ${request.timeouts.totalMs / 1000} s`;
}

/** False when the time was up before. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  return wait(ms, true, { signal }).catch(() => false);
}
