// Decides what a request is for and whether to serve it: pure functions.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { quote } from '@slipway/base/text';
import type { ProvisioningToken } from '@slipway/fleet';
import { SPEC_VERSIONS, type SpecVersion } from '@slipway/ignition';
import type { ServerErrorCode } from './errors.ts';
import type { Inputs } from './source.ts';

/** The relevant parts of a request. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export interface Rules {
  /** Machines without a valid token are served too. */
  allowAnonymous: boolean;
  /** The known tokens may be out of date. */
  behind: boolean;
  now: number;
}

export interface Refusal {
  to: 'refuse';
  status: number;
  code: ServerErrorCode;
  message: string;
  headers: Record<string, string>;
  pool?: string;
}

export interface ConfigRequest {
  to: 'config';
  pool: string;
  version: SpecVersion;
  form: Form;
  /** How the machine was authorized. */
  access: 'token' | 'anonymous';
}

export type Decision = Refusal | ConfigRequest | { to: 'health' };

export const refuse = (
  status: number,
  code: ServerErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Refusal => ({ to: 'refuse', status, code, message, headers });

/** For a known pool that cannot be served now. Real clients retry after 503, and after nothing else. */
export const comeBack = (code: ServerErrorCode, message: string, seconds: number): Refusal =>
  refuse(503, code, message, { 'retry-after': String(seconds) });

/** Everything that can be decided about a request before reading the bytes of a response. */
export function decide(asked: RequestHead, inputs: Pick<Inputs, 'pools' | 'tokens'>, rules: Rules): Decision {
  const route = parseRoute(asked.method, asked.url);
  if (route.to === 'nothing' || route.to === 'method') return refuseRoute(route);
  if (hasBody(asked)) return refuse(413, 'SLW_SERVER_REQUEST', 'requests must not have a body');
  if (route.to === 'health') return route;
  return { ...decideConfig(route, asked, inputs, rules), pool: route.pool };
}

const refuseRoute = ({ to }: Route): Refusal =>
  to === 'method'
    ? refuse(405, 'SLW_SERVER_METHOD', `only ${ALLOWED_METHODS} are allowed`, { allow: ALLOWED_METHODS })
    : refuse(404, 'SLW_SERVER_PATH', 'not found: use /config/<pool> or /healthz');

const hasBody = ({ headers }: RequestHead): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

function decideConfig(
  { pool, form }: Extract<Route, { to: 'config' }>,
  { headers }: RequestHead,
  { pools, tokens }: Pick<Inputs, 'pools' | 'tokens'>,
  rules: Rules,
): Refusal | ConfigRequest {
  const verdict = checkToken(headers.authorization, tokens.get(pool) ?? [], rules.now);
  if (verdict !== 'valid' && !rules.allowAnonymous) return refuseToken(pool, verdict, rules);
  // Only now: which pools exist is not for clients without a token.
  if (!pools.has(pool)) return refuseUnknownPool(pool, rules);
  const version = parseAccept(headers.accept);
  if (!version.ok) return refuse(400, 'SLW_SERVER_VERSION', version.message);
  return { to: 'config', pool, form, version: version.version, access: verdict === 'valid' ? 'token' : 'anonymous' };
}

const RETRY_SECONDS = 5;

/** 404 fails the boot permanently, so it is sent only when the pools are certainly up to date. */
const refuseUnknownPool = (pool: string, { behind }: Rules): Refusal =>
  behind
    ? comeBack('SLW_SERVER_NOT_RENDERED', `MachineConfigPool ${pool} is not known yet`, RETRY_SECONDS)
    : refuse(404, 'SLW_SERVER_POOL', `there is no MachineConfigPool ${pool}`);

/** The same holds for 401: an unknown token may be newer than the tokens read so far. */
function refuseToken(pool: string, verdict: TokenVerdict, { behind }: Rules): Refusal {
  if (verdict === 'unknown' && behind) {
    return comeBack(
      'SLW_SERVER_TOKEN',
      `the tokens of MachineConfigPool ${pool} cannot be verified right now`,
      RETRY_SECONDS,
    );
  }
  const found = {
    missing: 'has none',
    unknown: 'has an invalid one',
    expired: 'has an expired one',
  };
  return refuse(
    401,
    'SLW_SERVER_TOKEN',
    `MachineConfigPool ${pool} requires a provisioning token, and the request ${verdict === 'valid' ? '' : found[verdict]}. Boot the machine with the current stub: Secret ${pool}-user-data-managed`,
    { 'www-authenticate': 'Bearer' },
  );
}

/** What a request is for, according to its request line. */
type Route = { to: 'config'; pool: string; form: Form } | { to: 'health' } | { to: 'nothing' } | { to: 'method' };

/** `gzip`: compressed bytes, as requested by a stub. Ignition forbids HTTP content encoding. */
export type Form = 'plain' | 'gzip';

/** The allowed methods. */
const ALLOWED_METHODS = 'GET, HEAD';

const POOL_PATH = /^\/config\/([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)$/;

/** Checks the path before the method: a wrong path is wrong with every method. */
export function parseRoute(method: string | undefined, url: string | undefined): Route {
  const [path = '', query = ''] = (url ?? '').split('?', 2);
  const pool = POOL_PATH.exec(path)?.[1];
  if (pool === undefined && path !== '/healthz') return { to: 'nothing' };
  if (method !== 'GET' && method !== 'HEAD') return { to: 'method' };
  return pool === undefined ? { to: 'health' } : { to: 'config', pool, form: parseForm(query) };
}

const parseForm = (query: string): Form => (query.split('&').includes('compression=gzip') ? 'gzip' : 'plain');

/** `missing`: none was sent; `unknown`: not a current token of the pool; `expired`: it was one. */
type TokenVerdict = 'valid' | 'missing' | 'unknown' | 'expired';

/** Compared with where a pool has fewer tokens than usual, or does not exist. No request contains it. */
const NO_TOKEN: ProvisioningToken = { token: '', created: '', expires: '' };

/**
 * Compares with every token, by digest: the timing reveals neither how much of a token is correct, nor which one, nor
 * whether there are any.
 */
export function checkToken(
  authorization: string | undefined,
  tokens: readonly ProvisioningToken[],
  now: number,
): TokenVerdict {
  const sent = /^Bearer +([\w.~+/=-]{1,512})$/i.exec(authorization ?? '')?.[1];
  if (sent === undefined) return 'missing';
  const digest = tokenDigest(sent);
  const compared = [...tokens, NO_TOKEN, NO_TOKEN].slice(0, Math.max(2, tokens.length));
  const equal = compared.filter(({ token }) => timingSafeEqual(tokenDigest(token), digest));
  if (equal.length === 0) return 'unknown';
  return equal.some(({ expires }) => now < Date.parse(expires)) ? 'valid' : 'expired';
}

const tokenDigest = (text: string): Buffer => createHash('sha256').update(text).digest();

type RequestedVersion = { ok: true; version: SpecVersion } | { ok: false; message: string };

const IGNITION_TYPE = 'application/vnd.coreos.ignition+json';
/** The version for clients that predate the header. */
const OLDEST: SpecVersion = '2.2.0';
/** A client names one or two versions; a request that names hundreds is not from a client. */
const MAX_RANGES = 16;

/**
 * The spec version that a client requests with its Accept header. Of several the preferred one (q) counts, then the
 * newest. Every client reads older configs of its own major version, so the response has the newest served version that
 * is not newer than the requested one: a request for 3.9.0 gets 3.6.0. Without a header, or with one that names no
 * Ignition config, the client expects spec 2.2.
 */
export function parseAccept(header: string | undefined): RequestedVersion {
  const asked = (header ?? '').split(',', MAX_RANGES).flatMap(readRange);
  if (asked.length === 0) return { ok: true, version: OLDEST };
  const served = asked
    .flatMap(({ version, quality }) => {
      const found = newestUpTo(version);
      return found === undefined ? [] : [{ found, quality }];
    })
    .toSorted((a, b) => b.quality - a.quality || SPEC_VERSIONS.indexOf(b.found) - SPEC_VERSIONS.indexOf(a.found));
  const best = served[0];
  if (best !== undefined) return { ok: true, version: best.found };
  const found = asked.map(({ version }) => quote(version, 40)).join(', ');
  return {
    ok: false,
    message: `the Accept header requests an Ignition config of version ${found}. Supported versions: ${SPEC_VERSIONS.join(', ')}`,
  };
}

interface RequestedRange {
  version: string;
  quality: number;
}

function readRange(text: string): RequestedRange[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  if (type.toLowerCase() !== IGNITION_TYPE) return [];
  const version = findParameter(parameters, 'version') ?? OLDEST;
  const quality = Number(findParameter(parameters, 'q') ?? 1);
  return quality > 0 ? [{ version, quality }] : [];
}

function findParameter(parameters: readonly string[], name: string): string | undefined {
  const found = parameters.find((parameter) => parameter.toLowerCase().startsWith(`${name}=`));
  return found?.slice(name.length + 1).replaceAll('"', '');
}

/** The newest served version of the same major that is not newer; a pre-release precedes its release. */
function newestUpTo(asked: string): SpecVersion | undefined {
  const match = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})(-[\w.-]{1,40})?$/.exec(asked);
  if (match === null) return undefined;
  const [, major, minor, patch, preRelease] = match;
  const limit = Number(minor) - (preRelease !== undefined && Number(patch) === 0 ? 1 : 0);
  return SPEC_VERSIONS.findLast((version) => {
    const [ourMajor, ourMinor] = version.split('.');
    return ourMajor === major && Number(ourMinor) <= limit;
  });
}
