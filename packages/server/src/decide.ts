// What a request is for, and whether it may have it: pure.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { quote } from '@slipway/base/text';
import type { ProvisioningToken } from '@slipway/fleet';
import { SPEC_VERSIONS, type SpecVersion } from '@slipway/ignition';
import type { ServerErrorCode } from './errors.ts';
import type { Inputs } from './source.ts';

/** What of a request counts. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export interface Rules {
  /** Machines without a valid token are answered too. */
  allowAnonymous: boolean;
  /** The tokens we know may not be the newest. */
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
  /** How the machine showed that it may ask. */
  access: 'token' | 'anonymous';
}

export type Decision = Refusal | ConfigRequest | { to: 'health' };

export const refuse = (
  status: number,
  code: ServerErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Refusal => ({ to: 'refuse', status, code, message, headers });

/** Of a pool that is known, but cannot be answered now. Real clients come back after 503, and after nothing else. */
export const comeBack = (code: ServerErrorCode, message: string, seconds: number): Refusal =>
  refuse(503, code, message, { 'retry-after': String(seconds) });

/** Everything that can be said about a request without looking at the bytes of an answer. */
export function decide(asked: RequestHead, inputs: Pick<Inputs, 'pools' | 'tokens'>, rules: Rules): Decision {
  const route = parseRoute(asked.method, asked.url);
  if (route.to === 'nothing' || route.to === 'method') return refuseRoute(route);
  if (hasBody(asked)) return refuse(413, 'SLW_SERVER_REQUEST', 'nothing here takes a body');
  if (route.to === 'health') return route;
  return { ...decideConfig(route, asked, inputs, rules), pool: route.pool };
}

const refuseRoute = ({ to }: Route): Refusal =>
  to === 'method'
    ? refuse(405, 'SLW_SERVER_METHOD', `only ${ALLOWED_METHODS} are answered`, { allow: ALLOWED_METHODS })
    : refuse(404, 'SLW_SERVER_PATH', 'there is /config/<pool> and /healthz');

const hasBody = ({ headers }: RequestHead): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

function decideConfig(
  { pool, form }: Extract<Route, { to: 'config' }>,
  { headers }: RequestHead,
  { pools, tokens }: Pick<Inputs, 'pools' | 'tokens'>,
  rules: Rules,
): Refusal | ConfigRequest {
  if (!pools.has(pool)) return refuseUnknownPool(pool, rules);
  const verdict = checkToken(headers.authorization, tokens.get(pool) ?? [], rules.now);
  if (verdict !== 'valid' && !rules.allowAnonymous) return refuseToken(pool, verdict, rules);
  const version = parseAccept(headers.accept);
  if (!version.ok) return refuse(400, 'SLW_SERVER_VERSION', version.message);
  return { to: 'config', pool, form, version: version.version, access: verdict === 'valid' ? 'token' : 'anonymous' };
}

const RETRY_SECONDS = 5;

/** 404 ends a boot for good: it is said only while we can be sure. */
const refuseUnknownPool = (pool: string, { behind }: Rules): Refusal =>
  behind
    ? comeBack('SLW_SERVER_NOT_RENDERED', `MachineConfigPool ${pool} is not known yet`, RETRY_SECONDS)
    : refuse(404, 'SLW_SERVER_POOL', `there is no MachineConfigPool ${pool}`);

/** As is 401: a token that we have not heard of may be newer than what we know. */
function refuseToken(pool: string, verdict: TokenVerdict, { behind }: Rules): Refusal {
  if (verdict === 'unknown' && behind) {
    return comeBack('SLW_SERVER_TOKEN', `the tokens of MachineConfigPool ${pool} cannot be checked now`, RETRY_SECONDS);
  }
  const found = {
    missing: 'brings none',
    unknown: 'brings one that is not valid',
    expired: 'brings one that has expired',
  };
  return refuse(
    401,
    'SLW_SERVER_TOKEN',
    `a provisioning token of MachineConfigPool ${pool} is needed, and the request ${verdict === 'valid' ? '' : found[verdict]}. Start the machine with the current stub: Secret ${pool}-user-data-managed`,
    { 'www-authenticate': 'Bearer' },
  );
}

/** What a request is for, as far as its first line says. */
type Route = { to: 'config'; pool: string; form: Form } | { to: 'health' } | { to: 'nothing' } | { to: 'method' };

/** `gzip`: the bytes a stub asks for, packed. Ignition forbids the packing of HTTP itself. */
export type Form = 'plain' | 'gzip';

/** The methods that are answered. */
const ALLOWED_METHODS = 'GET, HEAD';

const POOL_PATH = /^\/config\/([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)$/;

/** The path before the method: a wrong path stays wrong with every method. */
export function parseRoute(method: string | undefined, url: string | undefined): Route {
  const [path = '', query = ''] = (url ?? '').split('?', 2);
  const pool = POOL_PATH.exec(path)?.[1];
  if (pool === undefined && path !== '/healthz') return { to: 'nothing' };
  if (method !== 'GET' && method !== 'HEAD') return { to: 'method' };
  return pool === undefined ? { to: 'health' } : { to: 'config', pool, form: parseForm(query) };
}

const parseForm = (query: string): Form => (query.split('&').includes('compression=gzip') ? 'gzip' : 'plain');

/** `missing`: none was sent; `unknown`: not, or no longer, one of the pool's; `expired`: it was one. */
type TokenVerdict = 'valid' | 'missing' | 'unknown' | 'expired';

/**
 * Compares with every token, and by digest: how long it takes says neither how much of a token is right nor which one.
 */
export function checkToken(
  authorization: string | undefined,
  tokens: readonly ProvisioningToken[],
  now: number,
): TokenVerdict {
  const sent = /^Bearer +([\w.~+/=-]{1,512})$/i.exec(authorization ?? '')?.[1];
  if (sent === undefined) return 'missing';
  const digest = tokenDigest(sent);
  const equal = tokens.filter(({ token }) => timingSafeEqual(tokenDigest(token), digest));
  if (equal.length === 0) return 'unknown';
  return equal.some(({ expires }) => now < Date.parse(expires)) ? 'valid' : 'expired';
}

const tokenDigest = (text: string): Buffer => createHash('sha256').update(text).digest();

type RequestedVersion = { ok: true; version: SpecVersion } | { ok: false; message: string };

const IGNITION_TYPE = 'application/vnd.coreos.ignition+json';
/** What clients of before the header existed can read. */
const OLDEST: SpecVersion = '2.2.0';
/** A client names one or two; whoever names hundreds is none. */
const MAX_RANGES = 16;

/**
 * The spec version that a client asks for with its Accept header. Among several the preferred one (q) counts, then the
 * newest. Every client reads older configs of its own major version, so the answer is the newest version that is not
 * newer than the one asked for: 3.9.0 is answered with 3.6.0. A header that names no Ignition config, and none at all,
 * are the clients of spec 2.2.
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
    message: `the Accept header asks for an Ignition config of version ${found}: served are ${SPEC_VERSIONS.join(', ')}`,
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

/** The newest version we serve of the same major that is not newer; a pre-release comes before its release. */
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
