// Whether a change of /etc/containers/registries.conf only adds digest mirrors. By digest, every mirror serves the same
// image, so pods get the same image with the old and the new file, and no drain is needed.
import { isRecord } from '@slipway/base/json';
import { parse } from 'smol-toml';
import { canonicalJson } from '../render/rendered-name.ts';

type Table = Readonly<Record<string, unknown>>;

/** Null: the config has no such file, and that of the OS is not known. False if a file cannot be parsed. */
export function addsMirrorsOnly(before: Uint8Array | null, after: Uint8Array | null): boolean {
  if (before === null || after === null) return false;
  try {
    return isSafeChange(tableIn(before), tableIn(after));
  } catch {
    // Not TOML, or not representable as JSON.
    return false;
  }
}

function tableIn(bytes: Uint8Array): Table {
  return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

const SEARCHED = 'unqualified-search-registries';

function isSafeChange(old: Table, now: Table): boolean {
  if (!hasSame(without(old, SEARCHED, 'registry'), without(now, SEARCHED, 'registry'))) return false;
  // Registries are searched in order: one more at the end is used only for images that were not found before.
  if (!isBeginning(tablesOrTexts(old, SEARCHED), tablesOrTexts(now, SEARCHED))) return false;
  const [had, has] = [registriesIn(old), registriesIn(now)];
  if (had === null || has === null) return false;
  if ([...had.keys()].some((scope) => !has.has(scope))) return false;
  return [...has].every(([scope, registry]) => {
    const before = had.get(scope);
    if (before !== undefined) return isSafeToBecome(before, registry);
    return isSafeToAdd(registry) && ![...had.keys()].some((other) => covers(other, scope));
  });
}

/** The longest scope applies: a new one inside another takes its images away from the mirrors of the other. */
function covers(outer: string, inner: string): boolean {
  return inner.startsWith(`${outer}/`) || outer.startsWith('*');
}

/** Null if two have the same scope: the container runtime decides which one applies. */
function registriesIn(table: Table): ReadonlyMap<string, Table> | null {
  const registries = new Map<string, Table>();
  for (const registry of tablesIn(table, 'registry')) {
    const scope = readScope(registry);
    if (registries.has(scope)) return null;
    registries.set(scope, registry);
  }
  return registries;
}

function readScope({ prefix, location }: Table): string {
  const scope = prefix === undefined || prefix === '' ? location : prefix;
  if (typeof scope !== 'string') throw new TypeError('a registry has neither prefix nor location');
  return scope;
}

/** It must neither block images that could be pulled before nor redirect to others. */
function isSafeToAdd(registry: Table): boolean {
  const { blocked = false, insecure = false, location } = registry;
  const leadsElsewhere = location !== undefined && location !== readScope(registry);
  if (blocked !== false || insecure !== false || leadsElsewhere) return false;
  return tablesIn(registry, 'mirror').every((mirror) => isByDigest(registry, mirror));
}

function isSafeToBecome(before: Table, after: Table): boolean {
  if (!hasSame(without(before, 'mirror'), without(after, 'mirror'))) return false;
  const [old, now] = [tablesIn(before, 'mirror'), tablesIn(after, 'mirror')];
  const isKeptAs = (mirror: Table, each: Table) => hasSame(each, mirror) || hasSame(each, restrictToDigest(mirror));
  if (!old.every((mirror) => now.some((each) => isKeptAs(mirror, each)))) return false;
  return now.every((each) => isByDigest(after, each) || old.some((mirror) => isKeptAs(mirror, each)));
}

const PULL = 'pull-from-mirror';
const BY_DIGEST = 'digest-only';

function restrictToDigest(mirror: Table): Table {
  return { ...mirror, [PULL]: BY_DIGEST };
}

function isByDigest(registry: Table, mirror: Table): boolean {
  return mirror[PULL] === BY_DIGEST || registry['mirror-by-digest-only'] === true;
}

function tablesOrTexts(table: Table, name: string): readonly unknown[] {
  const value = table[name] ?? [];
  if (!Array.isArray(value)) throw new TypeError(`${name} is not a list`);
  return value;
}

function tablesIn(table: Table, name: string): readonly Table[] {
  return tablesOrTexts(table, name).map((each) => {
    if (!isRecord(each)) throw new TypeError(`${name} contains an entry that is not a table`);
    return each;
  });
}

function isBeginning(beginning: readonly unknown[], whole: readonly unknown[]): boolean {
  return beginning.every((value, index) => value === whole[index]);
}

function without(table: Table, ...names: readonly string[]): Table {
  return Object.fromEntries(Object.entries(table).filter(([name]) => !names.includes(name)));
}

function hasSame(a: Table, b: Table): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
