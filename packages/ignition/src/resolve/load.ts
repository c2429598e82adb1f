// Loads the contents of a reference: fetch or decode, unpack, verify the hash.
import { decodeDataUrl } from '../data-url.ts';
import type { ResolveCode } from '../errors.ts';
import { show } from '../report.ts';
import { type HostPolicy, whyHostRefused } from './address.ts';
import { readContents } from './contents.ts';
import type { Fetched, Fetcher, FetchRequest, FetchSettings } from './fetcher.ts';
import type { Budget } from './limits.ts';
import { type FieldLocation, ResolveError } from './problem.ts';
import type { Reference } from './slots.ts';

/** Shared by all loads of one resolve. */
export interface LoadContext {
  fetch: Fetcher;
  hosts: HostPolicy;
  budget: Budget;
  signal: AbortSignal;
  /** The same URL with the same headers is fetched once, so that one resolve uses one state of it. */
  fetched: Map<string, Promise<Fetched>>;
}

export interface Loaded {
  /** As fetched, perhaps compressed. */
  raw: Uint8Array;
  /** The contents. */
  bytes: Uint8Array;
  /** False for a data URL, which is not changed. */
  remote: boolean;
}

const UNSUPPORTED: Readonly<Record<string, string>> = {
  s3: 'it needs the cloud credentials of the booting machine. Use an https URL (a presigned one, for example) or a data URL',
  arn: 'it names an S3 object, which needs the cloud credentials of the booting machine. Use an https URL or a data URL',
  gs: 'it needs the cloud credentials of the booting machine. Use an https URL (a signed one, for example) or a data URL',
  tftp: 'TFTP has no authentication and no limits on size and time. Use an http or https URL with a hash, or a data URL',
};

/** The verified contents of a reference. Throws ResolveError. */
export async function load(
  context: LoadContext,
  settings: FetchSettings,
  reference: Reference,
  place: FieldLocation,
): Promise<Loaded> {
  const source = reference.source ?? '';
  // Without a source the file is empty, for the real client too.
  if (source === '') return { raw: new Uint8Array(), bytes: new Uint8Array(), remote: false };
  const remote = parseScheme(source) !== 'data';
  const raw = remote ? await fetchRemote(context, settings, reference, place) : decode(source, place);
  const { singleBytes: maxBytes, ratio: maxRatio } = context.budget.limits;
  const contents = await readContents(reference, raw, { maxBytes, maxRatio });
  if (!contents.ok) throw new ResolveError(contents.code, place, source, contents.problem);
  return { raw, bytes: contents.bytes, remote };
}

export function parseScheme(source: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(source)?.[1]?.toLowerCase() ?? '';
}

function decode(source: string, place: FieldLocation): Uint8Array {
  const decoded = decodeDataUrl(source);
  if (decoded.ok) return decoded.bytes;
  throw new ResolveError('SLW_RESOLVE_DATA_URL', place, source, `the data URL cannot be read: ${decoded.problem}`);
}

async function fetchRemote(context: LoadContext, settings: FetchSettings, ref: Reference, place: FieldLocation) {
  const source = ref.source ?? '';
  const fail = (code: ResolveCode, problem: string) => new ResolveError(code, place, source, problem);
  const url = parseUrl(source, fail);
  const refused = whyHostRefused(url.hostname, context.hosts);
  if (refused !== null) throw fail('SLW_RESOLVE_HOST', `the host ${url.hostname} is not allowed: ${refused}`);
  const request = requestFor(context, settings, url, readHeaders(ref, fail));
  const key = JSON.stringify([request.url, request.headers]);
  const known = context.fetched.get(key);
  if (known === undefined) {
    const tooMany = context.budget.takeFetch();
    if (tooMany !== null) throw fail('SLW_RESOLVE_LIMIT', tooMany);
  }
  const answer = known ?? unlessAborted(context.fetch(request), request.signal);
  context.fetched.set(key, answer);
  const fetched = await answer;
  if (context.signal.aborted) {
    const problem = `resolving took longer than the limit of ${context.budget.limits.timeMs} ms`;
    throw fail('SLW_RESOLVE_TIME', problem);
  }
  if (!fetched.ok) throw fail('SLW_RESOLVE_FETCH', `cannot be fetched: ${fetched.problem}`);
  const tooLarge = known === undefined ? context.budget.takeBytes(fetched.bytes.byteLength) : null;
  if (tooLarge !== null) throw fail('SLW_RESOLVE_LIMIT', tooLarge);
  return fetched.bytes;
}

function parseUrl(source: string, fail: (code: ResolveCode, problem: string) => ResolveError): URL {
  const scheme = parseScheme(source);
  if (scheme !== 'http' && scheme !== 'https') {
    const why = Object.hasOwn(UNSUPPORTED, scheme)
      ? UNSUPPORTED[scheme]
      : 'only http, https and data URLs can be resolved';
    throw fail(
      'SLW_RESOLVE_SCHEME',
      `${scheme === '' ? 'a URL without a scheme' : scheme} is not supported, because ${why}`,
    );
  }
  // The URL parser would find a host where there is none, as in https:path.
  const url = /^https?:\/\//i.test(source) ? URL.parse(source) : null;
  if (url === null) throw fail('SLW_RESOLVE_URL', 'it is not a URL with a host');
  return url;
}

function readHeaders(
  ref: Reference,
  fail: (code: ResolveCode, problem: string) => ResolveError,
): FetchRequest['headers'] {
  return (ref.httpHeaders ?? []).map(({ name, value }) => {
    if (value === undefined || value === '') throw fail('SLW_RESOLVE_HEADER', `the header ${show(name)} has no value`);
    return { name, value };
  });
}

function requestFor(
  context: LoadContext,
  settings: FetchSettings,
  url: URL,
  headers: FetchRequest['headers'],
): FetchRequest {
  const { limits } = context.budget;
  url.hash = '';
  return {
    url: url.href,
    headers,
    proxy: settings.proxy,
    certificateAuthorities: settings.certificateAuthorities,
    timeouts: {
      responseHeadersMs: Math.min(settings.timeouts.responseHeadersMs ?? limits.timeMs, limits.timeMs),
      totalMs: Math.min(settings.timeouts.totalMs ?? limits.timeMs, limits.timeMs),
    },
    maxBytes: context.budget.nextBytes,
    maxRedirects: limits.redirects,
    hosts: context.hosts,
    signal: context.signal,
  };
}

/** A fetcher that ignores the signal must not block the resolve. */
async function unlessAborted(answer: Promise<Fetched>, signal: AbortSignal): Promise<Fetched> {
  const aborted: Fetched = { ok: false, problem: 'aborted' };
  if (signal.aborted) return aborted;
  const gaveUp = Promise.withResolvers<Fetched>();
  const giveUp = () => gaveUp.resolve(aborted);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([answer, gaveUp.promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
