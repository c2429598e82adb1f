import { describeKind, isRecord, parseJson } from '@slipway/base/json';
import { quote } from '@slipway/base/text';
import { RegistryError } from './errors.ts';
import { isHostPattern, isScope } from './reference.ts';
import type { Credential } from './registry.ts';

const MAX_PULL_SECRET_CHARS = 1024 * 1024;
const MAX_ENTRIES = 1000;

/**
 * Parses a pull secret (`.dockerconfigjson`) into credentials by scope. Errors contain nothing of its content except
 * the scopes. Entries without a login (it is in a credential helper) are skipped.
 */
export function parsePullSecret(text: string): ReadonlyMap<string, Credential> {
  const auths = authsIn(text);
  const entries = Object.entries(auths);
  if (entries.length > MAX_ENTRIES)
    throw refuse(`auths: expected at most ${MAX_ENTRIES} entries, found ${entries.length}`);
  const credentials = new Map<string, Credential>();
  for (const [key, entry] of entries) {
    const scope = parseScope(key);
    const credential = credentialIn(entry, `auths[${showKey(key)}]`);
    if (credential !== undefined) credentials.set(scope, credential);
  }
  return credentials;
}

function authsIn(text: string): Record<string, unknown> {
  const parsed = parseJson(text, { maxChars: MAX_PULL_SECRET_CHARS });
  if (!parsed.ok) throw refuse(parsed.problem);
  const { value } = parsed;
  if (!isRecord(value)) throw refuse(`expected an object with auths, found ${describeKind(value)}`);
  if (!isRecord(value['auths'])) throw refuse(`auths: expected an object, found ${describeKind(value['auths'])}`);
  return value['auths'];
}

/** Older tools write a key as a URL. */
function parseScope(key: string): string {
  const bare = key
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/+$/, '')
    .replace(/\/v[12]$/, '');
  const slash = bare.indexOf('/');
  const host = (slash === -1 ? bare : bare.slice(0, slash)).toLowerCase();
  const scope = `${dockerHub.has(host) ? 'docker.io' : host}${slash === -1 ? '' : bare.slice(slash)}`;
  const isKnown = isScope(scope) || isHostPattern(scope);
  if (!isKnown) throw refuse(`auths[${showKey(key)}]: expected a host, or a host and a path, as key`);
  return scope;
}

/** The host names of Docker Hub logins. */
const dockerHub = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

const showKey = (key: string): string => (key.includes('@') ? '"…"' : quote(key, 100));

function credentialIn(entry: unknown, at: string): Credential | undefined {
  if (!isRecord(entry)) throw refuse(`${at}: expected an object, found ${describeKind(entry)}`);
  const auth = textIn(entry, 'auth', at);
  if (auth !== undefined) return decode(auth, `${at}.auth`);
  const username = textIn(entry, 'username', at);
  if (username === undefined) return undefined;
  if (username.includes(':')) throw refuse(`${at}.username: expected a name without a colon`);
  return { username, password: textIn(entry, 'password', at) ?? '' };
}

function textIn(entry: Record<string, unknown>, field: string, at: string): string | undefined {
  const value = entry[field];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw refuse(`${at}.${field}: expected text, found ${describeKind(value)}`);
  return value;
}

function decode(auth: string, at: string): Credential {
  const compact = auth.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(compact)) throw refuse(`${at}: expected base64, found something else`);
  const text = Buffer.from(compact, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) throw refuse(`${at}: expected base64 of NAME:PASSWORD, found no NAME: in it`);
  // Some tools append zero bytes.
  return { username: text.slice(0, colon), password: text.slice(colon + 1).replace(/\0+$/, '') };
}

const refuse = (why: string): RegistryError =>
  new RegistryError(
    'SLW_REGISTRY_PULL_SECRET',
    `pull secret (.dockerconfigjson): ${why}. \`podman login --authfile FILE HOST\` writes a valid one`,
  );
