import type { SpecVersion } from '@slipway/ignition';
import { parseAccept } from './accept.ts';
import type { ServerErrorCode } from './errors.ts';
import { allowedMethods, routeOf } from './route.ts';
import type { Form, Route } from './route.ts';
import type { Inputs } from './source.ts';
import { checkToken } from './token.ts';
import type { TokenVerdict } from './token.ts';

/** What of a request counts. */
export interface Asked {
  method: string | undefined;
  url: string | undefined;
  accept: string | undefined;
  authorization: string | undefined;
  contentLength: string | undefined;
  transferEncoding: string | undefined;
}

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
export function decide(asked: Asked, inputs: Pick<Inputs, 'pools' | 'tokens'>, rules: Rules): Decision {
  const route = routeOf(asked.method, asked.url);
  if (route.to === 'nothing' || route.to === 'method') return refuseRoute(route);
  if (hasBody(asked)) return refuse(413, 'SLW_SERVER_REQUEST', 'nothing here takes a body');
  if (route.to === 'health') return route;
  return { ...decideConfig(route, asked, inputs, rules), pool: route.pool };
}

const refuseRoute = ({ to }: Route): Refusal =>
  to === 'method'
    ? refuse(405, 'SLW_SERVER_METHOD', `only ${allowedMethods} are answered`, { allow: allowedMethods })
    : refuse(404, 'SLW_SERVER_PATH', 'there is /config/<pool> and /healthz');

const hasBody = ({ contentLength, transferEncoding }: Asked): boolean =>
  transferEncoding !== undefined || (contentLength ?? '0') !== '0';

function decideConfig(
  { pool, form }: Extract<Route, { to: 'config' }>,
  asked: Asked,
  { pools, tokens }: Pick<Inputs, 'pools' | 'tokens'>,
  rules: Rules,
): Refusal | ConfigRequest {
  if (!pools.has(pool)) return refuseUnknownPool(pool, rules);
  const verdict = checkToken(asked.authorization, tokens.get(pool) ?? [], rules.now);
  if (verdict !== 'valid' && !rules.allowAnonymous) return refuseToken(pool, verdict, rules);
  const version = parseAccept(asked.accept);
  if (!version.ok) return refuse(400, 'SLW_SERVER_VERSION', version.message);
  return { to: 'config', pool, form, version: version.version, access: verdict === 'valid' ? 'token' : 'anonymous' };
}

const retrySeconds = 5;

/** 404 ends a boot for good: it is said only while we can be sure. */
const refuseUnknownPool = (pool: string, { behind }: Rules): Refusal =>
  behind
    ? comeBack('SLW_SERVER_NOT_RENDERED', `MachineConfigPool ${pool} is not known yet`, retrySeconds)
    : refuse(404, 'SLW_SERVER_POOL', `there is no MachineConfigPool ${pool}`);

/** As is 401: a token that we have not heard of may be newer than what we know. */
function refuseToken(pool: string, verdict: TokenVerdict, { behind }: Rules): Refusal {
  if (verdict === 'unknown' && behind) {
    return comeBack('SLW_SERVER_TOKEN', `the tokens of MachineConfigPool ${pool} cannot be checked now`, retrySeconds);
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
