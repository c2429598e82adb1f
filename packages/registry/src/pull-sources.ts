import { RegistryError } from './errors.ts';
import { coverage, formatReference, mostSpecific, formatName, type Reference } from './reference.ts';
import type { Mirror, MirrorRule } from './registry.ts';

/** The registry of an image, or a mirror. */
export interface PullSource {
  readonly host: string;
  readonly repository: string;
  readonly plainHttp: boolean;
}

export interface PullSourceRules {
  readonly mirrors: readonly MirrorRule[];
  readonly plainHttp: ReadonlySet<string>;
}

/**
 * Where to pull an image from, in order: the mirrors of its most specific source, then the source. If several rules
 * have the same source, their mirrors are tried in order, and a single rule can forbid contacting the source.
 */
export function listPullSources(reference: Reference, rules: PullSourceRules): readonly [PullSource, ...PullSource[]] {
  const name = formatName(reference);
  const matching = rulesFor(name, rules.mirrors);
  const kind = reference.digest === undefined ? 'tags' : 'digests';
  const places = matching
    .filter((rule) => rule.for === 'all' || rule.for === kind)
    .flatMap((rule) => rule.mirrors.flatMap((mirror) => toPullSource(mirror, rule.source, name, rules)))
    .filter((place) => !isBlocked(formatName(place), rules.mirrors));
  if (matching.every(({ fallback, blocked }) => fallback && !blocked)) {
    places.push({ ...reference, plainHttp: rules.plainHttp.has(reference.host) });
  }
  const [first, ...rest] = withoutRepeats(places);
  if (first === undefined) throw noPullSource(reference, matching, kind);
  return [first, ...rest];
}

function rulesFor(name: string, rules: readonly MirrorRule[]): readonly MirrorRule[] {
  const source = mostSpecific(
    rules.map((rule) => rule.source),
    name,
  );
  return rules.filter((rule) => rule.source === source);
}

const isBlocked = (name: string, rules: readonly MirrorRule[]): boolean =>
  rulesFor(name, rules).some(({ blocked }) => blocked);

/** None if the source is a whole repository and the mirror only a host: the repository name would be empty. */
function toPullSource(mirror: Mirror, source: string, name: string, rules: PullSourceRules): PullSource[] {
  const moved = `${mirror.location}${name.slice(coverage(source, name) ?? 0)}`;
  const slash = moved.indexOf('/');
  if (slash === -1) return [];
  const host = moved.slice(0, slash);
  return [{ host, repository: moved.slice(slash + 1), plainHttp: mirror.plainHttp || rules.plainHttp.has(host) }];
}

function withoutRepeats(places: readonly PullSource[]): PullSource[] {
  const seen = new Map<string, PullSource>();
  for (const place of places) {
    const name = formatName(place);
    if (!seen.has(name)) seen.set(name, { host: place.host, repository: place.repository, plainHttp: place.plainHttp });
  }
  return [...seen.values()];
}

function noPullSource(reference: Reference, matching: readonly MirrorRule[], kind: string): RegistryError {
  const source = matching[0]?.source ?? reference.host;
  const why = matching.some(({ blocked }) => blocked)
    ? `${source} is blocked, and it has no allowed mirror for ${kind}`
    : `${source} must not be contacted, and it has no mirror for ${kind}`;
  const text = `${formatReference(reference)}: no source is allowed for this image: ${why}. Add a mirror for ${kind}, or allow the source`;
  return new RegistryError('SLW_REGISTRY_BLOCKED', text);
}

/** Docker Hub serves its images under another host name, and official images below library/. */
function serving({ host, repository }: PullSource): { host: string; repository: string } {
  if (host !== 'docker.io') return { host, repository };
  return { host: 'registry-1.docker.io', repository: repository.includes('/') ? repository : `library/${repository}` };
}

export function manifestUrl(place: PullSource, reference: string): URL {
  return buildUrl(place, 'manifests', reference);
}

export function blobUrl(place: PullSource, digest: string): URL {
  return buildUrl(place, 'blobs', digest);
}

function buildUrl(place: PullSource, kind: string, name: string): URL {
  const { host, repository } = serving(place);
  return new URL(`${place.plainHttp ? 'http' : 'https'}://${host}/v2/${repository}/${kind}/${name}`);
}

/** The token scope: read access only. */
export const pullScope = (place: PullSource): string => `repository:${serving(place).repository}:pull`;
