import { describeKind, isRecord } from '@slipway/base/json';
import { quote } from '@slipway/base/text';
import { parse } from 'smol-toml';
import { RegistryError } from './errors.ts';
import { parseHost, isHostPattern, isScope, lowerHost } from './reference.ts';
import type { Mirror, MirrorRule } from './registry.ts';

const MAX_CONF_CHARS = 1024 * 1024;
const MAX_ENTRIES = 1000;

type ReferenceKind = MirrorRule['for'];

/** A registries.conf as options of a registry client. */
export interface RegistriesConf {
  readonly mirrors: readonly MirrorRule[];
  readonly plainHttp: readonly string[];
}

/**
 * Parses a registries.conf (version 2). `insecure` means plain http here: an unverified certificate is never accepted.
 * Search registries, short names and credential helpers are ignored.
 */
export function parseRegistriesConf(text: string): RegistriesConf {
  if (text.length > MAX_CONF_CHARS) throw refuse(`expected at most ${MAX_CONF_CHARS} characters, found ${text.length}`);
  const parsed = parseToml(text);
  if (parsed['registries'] !== undefined) {
    throw refuse('expected version 2 ([[registry]] tables), found version 1 ([registries.search] and similar)');
  }
  const mirrors: MirrorRule[] = [];
  const plainHttp = new Set<string>();
  for (const [index, table] of tablesIn(parsed, 'registry', '').entries()) {
    const registry = readRegistry(table, `registry[${index}]`);
    mirrors.push(...toMirrorRules(registry));
    if (registry.insecure && registry.location !== undefined) plainHttp.add(parseHost(registry.location));
  }
  return { mirrors, plainHttp: [...plainHttp] };
}

function parseToml(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : '';
    throw refuse(`expected TOML: ${why}`);
  }
}

interface RegistryTable {
  prefix: string;
  /** Undefined for a host pattern: each host is its own location. */
  location: string | undefined;
  insecure: boolean;
  blocked: boolean;
  mirrors: readonly (Mirror & { for: ReferenceKind })[];
}

function readRegistry(table: Record<string, unknown>, at: string): RegistryTable {
  const location = scopeIn(table, 'location', at);
  const prefix = prefixIn(table, at) ?? location;
  if (prefix === undefined) throw refuse(`${at}: expected a location or a prefix, found neither`);
  if (location === undefined && !prefix.startsWith('*.')) {
    return { ...readRest(table, at), prefix, location: prefix };
  }
  return { ...readRest(table, at), prefix, location };
}

function readRest(table: Record<string, unknown>, at: string): Omit<RegistryTable, 'prefix' | 'location'> {
  const digestsOnly = flagIn(table, 'mirror-by-digest-only', at);
  return {
    insecure: flagIn(table, 'insecure', at),
    blocked: flagIn(table, 'blocked', at),
    mirrors: tablesIn(table, 'mirror', `${at}.`).map((mirror, index) =>
      readMirror(mirror, `${at}.mirror[${index}]`, digestsOnly),
    ),
  };
}

function readMirror(table: Record<string, unknown>, at: string, digestsOnly: boolean): Mirror & { for: ReferenceKind } {
  const location = scopeIn(table, 'location', at);
  if (location === undefined) throw refuse(`${at}.location: expected a host, or a host and a path, found nothing`);
  return { location, plainHttp: flagIn(table, 'insecure', at), for: readReferenceKind(table, at, digestsOnly) };
}

const pullFrom: ReadonlyMap<unknown, ReferenceKind> = new Map([
  ['all', 'all'],
  ['digest-only', 'digests'],
  ['tag-only', 'tags'],
]);

function readReferenceKind(table: Record<string, unknown>, at: string, digestsOnly: boolean): ReferenceKind {
  const value = table['pull-from-mirror'];
  if (value === undefined) return digestsOnly ? 'digests' : 'all';
  if (digestsOnly) {
    throw refuse(`${at}.pull-from-mirror: the registry already sets mirror-by-digest-only. Remove one of them`);
  }
  const answers = pullFrom.get(value);
  if (answers === undefined) {
    const found = typeof value === 'string' ? quote(value, 50) : describeKind(value);
    throw refuse(`${at}.pull-from-mirror: expected all, digest-only or tag-only, found ${found}`);
  }
  return answers;
}

/** The rules of a source are tried in order, so adjacent mirrors for the same kind of reference share a rule. */
function toMirrorRules({ prefix: source, location, insecure, blocked, mirrors }: RegistryTable): MirrorRule[] {
  const rules: (MirrorRule & { mirrors: Mirror[] })[] = [];
  for (const { for: answers, ...mirror } of mirrors) {
    const last = rules.at(-1);
    if (last?.for === answers) last.mirrors.push(mirror);
    else rules.push({ source, mirrors: [mirror], fallback: true, for: answers, blocked });
  }
  if (blocked && rules.length === 0) rules.push({ source, mirrors: [], fallback: false, for: 'all', blocked });
  // The images of the source are stored at another location, which is tried last instead of the source.
  if (!blocked && location !== undefined && location !== source) {
    rules.push({ source, mirrors: [{ location, plainHttp: insecure }], fallback: false, for: 'all', blocked });
  }
  return rules;
}

function tablesIn(table: Record<string, unknown>, field: string, at: string): Record<string, unknown>[] {
  const value = table[field] ?? [];
  if (!Array.isArray(value)) throw refuse(`${at}${field}: expected [[${field}]] tables, found ${describeKind(value)}`);
  if (value.length > MAX_ENTRIES) throw refuse(`${at}${field}: expected at most ${MAX_ENTRIES}, found ${value.length}`);
  return value.map((entry: unknown, index) => {
    // TOML has dates.
    if (isRecord(entry) && !(entry instanceof Date)) return entry;
    throw refuse(`${at}${field}[${index}]: expected a table, found ${describeKind(entry)}`);
  });
}

function flagIn(table: Record<string, unknown>, field: string, at: string): boolean {
  const value = table[field] ?? false;
  if (typeof value !== 'boolean') throw refuse(`${at}.${field}: expected true or false, found ${describeKind(value)}`);
  return value;
}

function prefixIn(table: Record<string, unknown>, at: string): string | undefined {
  const value = table['prefix'];
  if (typeof value === 'string' && isHostPattern(value.toLowerCase())) return value.toLowerCase();
  return scopeIn(table, 'prefix', at);
}

function scopeIn(table: Record<string, unknown>, field: string, at: string): string | undefined {
  const value = table[field];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw refuse(`${at}.${field}: expected text, found ${describeKind(value)}`);
  const scope = lowerHost(value);
  if (!isScope(scope)) {
    throw refuse(`${at}.${field}: expected a host, or a host and a path without a tag, found ${quote(value, 100)}`);
  }
  return scope;
}

const refuse = (why: string): RegistryError => new RegistryError('SLW_REGISTRY_MIRRORS', `registries.conf: ${why}`);
