// Logins: challenges of registries, and the tokens or passwords that answer them.
import type { Clock } from '@slipway/base/clock';
import { isRecord, type JsonRecord, parseJson } from '@slipway/base/json';
import { quote } from '@slipway/base/text';
import { toRegistryError, readBytes } from './response.ts';
import { type RegistryRequest, RegistryError } from './errors.ts';
import { Lru } from './lru.ts';
import { type PullSource, pullScope } from './pull-sources.ts';
import { mostSpecific, formatName } from './reference.ts';
import type { Credential } from './registry.ts';
import type { Transport } from './transport.ts';

/** Logs in to registries and caches the result until it expires. */
export interface Authorizer {
  /** The cached Authorization header. */
  current(place: PullSource): string | undefined;
  /** The Authorization header that answers a challenge of the source. */
  answer(challenge: Challenge | undefined, place: PullSource, asked: RegistryRequest): Promise<string>;
  forget(place: PullSource): void;
  /** For messages: whether there is a login, and for which scope. Never the login. */
  loginOf(place: PullSource): string;
}

export interface AuthorizerOptions {
  readonly credentials: ReadonlyMap<string, Credential>;
  readonly transport: Transport;
  readonly clock: Pick<Clock, 'wallNow'>;
  /** Aborts token requests after a timeout or on close. Callers share tokens, so their signals do not apply. */
  readonly signal: () => AbortSignal;
}

const MAX_KEPT_TOKENS = 1000;
/** A token is not used shortly before it expires, because the registry checks it later. */
const MARGIN_MS = 5000;

export function createAuthorizer({ credentials, transport, clock, signal }: AuthorizerOptions): Authorizer {
  const kept = new Lru<Token>(MAX_KEPT_TOKENS);
  const underWay = new Map<string, Promise<Token>>();

  const findScope = (place: PullSource): string | undefined => mostSpecific(credentials.keys(), formatName(place));

  function buildBasicHeader(place: PullSource): string | undefined {
    const scope = findScope(place);
    const login = scope === undefined ? undefined : credentials.get(scope);
    if (login === undefined) return undefined;
    return `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
  }

  function describeLogin(place: PullSource): string {
    const scope = findScope(place);
    return scope === undefined ? 'The pull secret has no login for it' : `The login for ${scope} was used`;
  }

  async function fetchToken(realm: URL, place: PullSource, asked: RegistryRequest): Promise<Token> {
    const authorization = buildBasicHeader(place);
    const chosenBy = new URL(formatOrigin(place));
    const answer = await transport.get({ url: realm, asked, signal: signal(), redirects: 0, authorization, chosenBy });
    if (answer.status !== 200) throw await toRegistryError(answer, asked, describeLogin(place), clock.wallNow());
    return readToken(answer.body, asked, clock.wallNow());
  }

  /** Concurrent requests share one token. */
  async function tokenFor(
    challenge: Challenge & { scheme: 'bearer' },
    place: PullSource,
    asked: RegistryRequest,
  ): Promise<Token> {
    const realm = parseRealm(challenge, place, asked);
    const key = formatKey(place);
    const token =
      underWay.get(key) ??
      fetchToken(realm, place, { ...asked, what: `token for ${asked.what}`, host: realm.host }).finally(() =>
        underWay.delete(key),
      );
    underWay.set(key, token);
    return token;
  }

  /** A login that a host accepted for one repository is used for its other repositories without a challenge. */
  const formatLoginKey = (place: PullSource): string => `${formatOrigin(place)} ${findScope(place) ?? ''}`;

  return {
    current(place) {
      const token = kept.get(formatKey(place)) ?? kept.get(formatLoginKey(place));
      return token !== undefined && token.expiresAt - MARGIN_MS > clock.wallNow() ? token.header : undefined;
    },
    async answer(challenge, place, asked) {
      if (challenge === undefined) {
        const text = `expected a Basic or Bearer challenge with status 401, found none. ${describeLogin(place)}. Check that this is the address of a registry`;
        throw new RegistryError('SLW_REGISTRY_UNAUTHORIZED', text, { asked, status: 401 });
      }
      if (challenge.scheme === 'bearer') {
        const token = await tokenFor(challenge, place, asked);
        kept.set(formatKey(place), token);
        return token.header;
      }
      const header = buildBasicHeader(place);
      if (header === undefined) {
        const text = `expected a login in the pull secret, found none for ${formatName(place)}. Add a login that may pull this image to the pull secret, for this host or for a path on it`;
        throw new RegistryError('SLW_REGISTRY_UNAUTHORIZED', text, { asked, status: 401 });
      }
      kept.set(formatLoginKey(place), { header, expiresAt: Number.POSITIVE_INFINITY });
      return header;
    },
    forget(place) {
      kept.delete(formatKey(place));
      kept.delete(formatLoginKey(place));
    },
    loginOf: describeLogin,
  };
}

const formatKey = (place: PullSource): string => `${formatOrigin(place)}/${place.repository}`;

const formatOrigin = ({ host, plainHttp }: PullSource): string => `${plainHttp ? 'http' : 'https'}://${host}`;

/** The URL of the token server. It receives the login, so it must be as secure as the connection to the registry. */
function parseRealm(challenge: Challenge & { scheme: 'bearer' }, place: PullSource, asked: RegistryRequest): URL {
  const realm = URL.parse(challenge.realm);
  if (realm === null || !isSafe(realm, place)) {
    const found = realm === null ? 'no URL' : quote(`${realm.protocol}//${realm.host}`);
    const text = `expected an https token server in the challenge, found ${found}. The login was not sent there. Correct the configuration of the registry`;
    throw new RegistryError('SLW_REGISTRY_REDIRECT', text, { asked });
  }
  if (challenge.service !== undefined) realm.searchParams.set('service', challenge.service);
  realm.searchParams.set('scope', readingScope(challenge.scope) ?? pullScope(place));
  return realm;
}

function isSafe({ protocol, username, password }: URL, place: PullSource): boolean {
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && place.plainHttp);
}

/** A proxy may use another repository name. More than read access is never requested. */
const readingScope = (scope = ''): string | undefined => (/^repository:[^\s:]+:pull$/.test(scope) ? scope : undefined);

/** From the WWW-Authenticate header of a 401 response. */
type Challenge =
  | { readonly scheme: 'basic' }
  | {
      readonly scheme: 'bearer';
      readonly realm: string;
      readonly service: string | undefined;
      readonly scope: string | undefined;
    };

const MAX_HEADER_CHARS = 8 * 1024;

/** The first supported challenge, Bearer before Basic. Undefined: there is none. */
export function parseChallenge(header: string | readonly string[] | undefined): Challenge | undefined {
  const text = typeof header === 'string' ? header : (header ?? []).join(', ');
  if (text.length > MAX_HEADER_CHARS) return undefined;
  const challenges = challengesIn(text);
  const bearer = challenges.find(({ scheme, parameters }) => scheme === 'bearer' && parameters.has('realm'));
  if (bearer !== undefined) {
    const { parameters } = bearer;
    const realm = parameters.get('realm') ?? '';
    return { scheme: 'bearer', realm, service: parameters.get('service'), scope: parameters.get('scope') };
  }
  return challenges.some(({ scheme }) => scheme === 'basic') ? { scheme: 'basic' } : undefined;
}

interface RawChallenge {
  scheme: string;
  parameters: Map<string, string>;
}

// One piece at a time: `name=value`, `name="value with \" and ,"`, or a word that starts a challenge (RFC 9110,
// 11.6.1).
const PIECE = /\s*(?:,\s*)*(?:([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))|([\w!#$%&'*+.^`|~-]+))/y;

function challengesIn(text: string): RawChallenge[] {
  const found: RawChallenge[] = [];
  PIECE.lastIndex = 0;
  for (let match = PIECE.exec(text); match !== null; match = PIECE.exec(text)) {
    const [, name, quoted, bare, scheme] = match;
    if (scheme !== undefined) found.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else if (name !== undefined) {
      found.at(-1)?.parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? '');
    }
  }
  return found;
}

interface Token {
  /** The Authorization header. */
  readonly header: string;
  readonly expiresAt: number;
}

const MAX_TOKEN_BYTES = 256 * 1024;
/** The default of the protocol for tokens without a lifetime. */
const DEFAULT_TOKEN_SECONDS = 60;
const MAX_TOKEN_SECONDS = 3600;

async function readToken(body: AsyncIterable<Uint8Array>, asked: RegistryRequest, now: number): Promise<Token> {
  const answer = parseToken((await readBytes(body, MAX_TOKEN_BYTES, asked)).toString('utf8'));
  const token = answer['token'] ?? answer['access_token'];
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    const text = 'expected a token on one line without spaces, found none. Check the token server of the registry';
    throw new RegistryError('SLW_REGISTRY_ANSWER', text, { asked });
  }
  return { header: `Bearer ${token}`, expiresAt: now + 1000 * secondsIn(answer) };
}

function secondsIn(answer: JsonRecord): number {
  const seconds = answer['expires_in'];
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, MAX_TOKEN_SECONDS) : DEFAULT_TOKEN_SECONDS;
}

/** The text may contain a token, so problems with it are not reported. */
function parseToken(text: string): JsonRecord {
  const parsed = parseJson(text);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}
