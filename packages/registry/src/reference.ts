import { quote } from '@slipway/base/text';
import { RegistryError } from './errors.ts';

export interface Reference {
  /** With the port, if the reference has one. */
  readonly host: string;
  readonly repository: string;
  readonly tag: string | undefined;
  /** Takes precedence over the tag. */
  readonly digest: string | undefined;
}

export const DIGEST_PATTERN = /^sha256:[a-f0-9]{64}$/;

// The grammar of the distribution project, without short names: the first part must be a host.
const HOST_PATTERN =
  /^(?:(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[a-f0-9:]+\])(?::\d{1,5})?$/;
const REPOSITORY_PATTERN = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG_PATTERN = /^[\w][\w.-]{0,127}$/;

const MAX_REFERENCE_CHARS = 1024;
const MAX_NAME_CHARS = 255;
const EXPECTED = 'expected host[:port]/path[:tag][@sha256:…], such as registry.example.com/team/app:1.2';

/** Parses a full image reference. Short names are rejected, because their meaning depends on configuration. */
export function parseReference(text: string): Reference {
  const slash = text.indexOf('/');
  const host = text.slice(0, Math.max(0, slash)).toLowerCase();
  const { name: repository, tag, digest } = split(text.slice(slash + 1));
  const problem = findProblem({ text, host, repository, tag, digest });
  if (problem !== undefined) throw refuse(text, problem);
  return { host, repository, tag: tag ?? (digest === undefined ? 'latest' : undefined), digest };
}

function findProblem({ text, host, repository, tag, digest }: Reference & { text: string }): string | undefined {
  if (text.length > MAX_REFERENCE_CHARS) return `the reference is longer than ${MAX_REFERENCE_CHARS} characters`;
  if (!isHost(host)) return hostProblem(host);
  if (!REPOSITORY_PATTERN.test(repository)) {
    return 'the path after the host may contain lower case letters and digits, separated by . _ -';
  }
  if (host.length + 1 + repository.length > MAX_NAME_CHARS)
    return `the name is longer than ${MAX_NAME_CHARS} characters`;
  if (tag !== undefined && !TAG_PATTERN.test(tag)) return 'the tag may contain at most 128 letters, digits and _ . -';
  if (digest !== undefined && !DIGEST_PATTERN.test(digest)) {
    return 'the digest must be sha256: and 64 characters 0-9 a-f';
  }
  return undefined;
}

function split(rest: string): { name: string; tag: string | undefined; digest: string | undefined } {
  const at = rest.indexOf('@');
  const digest = at === -1 ? undefined : rest.slice(at + 1);
  const tagged = at === -1 ? rest : rest.slice(0, at);
  const colon = tagged.lastIndexOf(':');
  if (colon === -1) return { name: tagged, tag: undefined, digest };
  return { name: tagged.slice(0, colon), tag: tagged.slice(colon + 1), digest };
}

/**
 * Whether the text is a host as written in references: a dot, a port or localhost distinguishes it from a path. Other
 * spellings of an address (127.1) are rejected, so that they cannot bypass rules for a host.
 */
function isHost(text: string): boolean {
  if (!HOST_PATTERN.test(text) || text.length > MAX_NAME_CHARS || isShort(text)) return false;
  return URL.parse(`https://${text}/`)?.hostname === text.replace(/:\d+$/, '');
}

const isShort = (host: string): boolean => !/[.:]/.test(host) && host !== 'localhost';

function hostProblem(host: string): string {
  if (host === '') return `the host is missing. ${NOT_GUESSED}`;
  if (HOST_PATTERN.test(host) && isShort(host)) return `${quote(host)} is not a full host name. ${NOT_GUESSED}`;
  return 'the part before the first / is not a valid host or host:port';
}

const NOT_GUESSED = 'Short names are not supported: write the full name with the registry';

function refuse(text: string, why: string): RegistryError {
  // Users may have written a login before the host.
  const shown = /^[^/]*@/.test(text) || text.includes('://') ? 'the image reference' : `image reference ${quote(text)}`;
  return new RegistryError('SLW_REGISTRY_REFERENCE', `${shown}: ${EXPECTED}; ${why}`);
}

export const formatName = ({ host, repository }: Pick<Reference, 'host' | 'repository'>): string =>
  `${host}/${repository}`;

export function formatReference(reference: Reference): string {
  const tag = reference.tag === undefined ? '' : `:${reference.tag}`;
  const digest = reference.digest === undefined ? '' : `@${reference.digest}`;
  return `${formatName(reference)}${tag}${digest}`;
}

// A scope is a set of repositories: `registry.example.com`, `registry.example.com/team`, or `*.example.com` for every
// host below it. Pull secrets and mirrors apply to scopes.

/** Whether the text is a host, or a host and a path. */
export function isScope(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash === -1) return isHost(text);
  return isHost(text.slice(0, slash)) && REPOSITORY_PATTERN.test(text.slice(slash + 1));
}

/** Whether the text is a pattern such as `*.example.com`. */
export const isHostPattern = (text: string): boolean => text.startsWith('*.') && isHost(text.slice(2));

/** Host names are case-insensitive; the rest must already be lower case. */
export function lowerHost(scope: string): string {
  const host = parseHost(scope);
  return host.toLowerCase() + scope.slice(host.length);
}

export const parseHost = (scope: string): string => scope.split('/', 1)[0] ?? '';

/** How many characters of the name (host and repository) the scope covers. Undefined: the name is not in the scope. */
export function coverage(scope: string, name: string): number | undefined {
  if (scope.startsWith('*.')) {
    const host = parseHost(name);
    return host.length > scope.length - 1 && host.endsWith(scope.slice(1)) ? host.length : undefined;
  }
  if (name !== scope && !name.startsWith(`${scope}/`)) return undefined;
  return scope.length;
}

/** The most specific scope that contains the name: the longest one, and a host before a pattern. */
export function mostSpecific(scopes: Iterable<string>, name: string): string | undefined {
  let best: string | undefined;
  for (const scope of scopes) {
    if (coverage(scope, name) !== undefined && (best === undefined || isMoreSpecific(scope, best))) best = scope;
  }
  return best;
}

function isMoreSpecific(scope: string, other: string): boolean {
  if (scope.startsWith('*') !== other.startsWith('*')) return other.startsWith('*');
  return scope.length > other.length;
}
