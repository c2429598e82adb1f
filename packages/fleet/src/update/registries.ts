// Whether a change of /etc/containers/registries.conf only adds mirrors that are asked by digest. By digest every mirror
// gives the same image, so pods that start on a node with the new file and on one with the old get the same: no drain.
import { isRecord } from '@slipway/base/json';
import { parse } from 'smol-toml';
import { canonicalJson } from '../render/rendered-name.ts';

type Table = Readonly<Record<string, unknown>>;

/** Null: the config has no such file, and what the OS has instead is not known. What cannot be understood is more than mirrors. */
export function addsMirrorsOnly(before: Uint8Array | null, after: Uint8Array | null): boolean {
  if (before === null || after === null) return false;
  try {
    return isSafeChange(tableIn(before), tableIn(after));
  } catch {
    // No TOML, or nothing that JSON could hold.
    return false;
  }
}

function tableIn(bytes: Uint8Array): Table {
  return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

const SEARCHED = 'unqualified-search-registries';

function isSafeChange(old: Table, now: Table): boolean {
  if (!hasSame(without(old, SEARCHED, 'registry'), without(now, SEARCHED, 'registry'))) return false;
  // They are asked in order: one more at the end is asked only for what was not found before.
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

/** The longest scope counts: a new one inside another takes the images of its own away from that one’s mirrors. */
function covers(outer: string, inner: string): boolean {
  return inner.startsWith(`${outer}/`) || outer.startsWith('*');
}

/** Null where two speak of the same images: which of them counts is for the container runtime to say. */
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

/** It may neither forbid images that could be pulled before nor lead to other ones. */
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
  if (!Array.isArray(value)) throw new TypeError(`${name} is no list`);
  return value;
}

function tablesIn(table: Table, name: string): readonly Table[] {
  return tablesOrTexts(table, name).map((each) => {
    if (!isRecord(each)) throw new TypeError(`${name} holds what is no table`);
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
