// Units as files on a disk: where systemd finds them, their settings with drop-ins, what enables them, and their names.
import { posix } from 'node:path';
import { type FileSystem, followLinks, readText } from './file-system.ts';

export const CONFIG_DIRECTORY = '/etc/systemd/system';
export const RUNTIME_DIRECTORY = '/run/systemd/system';
/** In order of precedence. */
export const UNIT_DIRECTORIES = [
  CONFIG_DIRECTORY,
  RUNTIME_DIRECTORY,
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
];
const MAX_UNIT_BYTES = 1024 * 1024;

export type UnitLookup =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'masked'; readonly at: string }
  /** A link in /etc/systemd/system to a file outside the search path of systemd. */
  | { readonly kind: 'linked'; readonly at: string }
  | {
      readonly kind: 'unit';
      /** The name of the unit, after resolving an alias. */
      readonly name: string;
      readonly path: string;
      readonly settings: UnitSettings;
    };

type UnitCandidate =
  | { readonly kind: 'alias'; readonly name: string }
  | Exclude<UnitLookup, { kind: 'unit' }>
  | UnitFileCandidate;

interface UnitFileCandidate {
  readonly kind: 'file';
  readonly path: string;
}

export async function findUnit(files: FileSystem, name: string, hops = 0): Promise<UnitLookup> {
  const candidate = await findFirstCandidate(files, name);
  if (candidate.kind === 'alias') {
    return hops > 8 ? { kind: 'not-found' } : findUnit(files, candidate.name, hops + 1);
  }
  if (candidate.kind !== 'file') return candidate;
  const texts = [candidate.path, ...(await listDropIns(files, name))].map((path) =>
    readText(files, path, MAX_UNIT_BYTES),
  );
  const settings = readUnitSettings((await Promise.all(texts)).map((text) => text ?? ''));
  return { kind: 'unit', name, path: candidate.path, settings };
}

async function findFirstCandidate(files: FileSystem, name: string): Promise<UnitCandidate> {
  const template = toTemplate(name);
  for (const wanted of template === undefined ? [name] : [name, template]) {
    for (const directory of UNIT_DIRECTORIES) {
      const candidate = await findCandidate(files, posix.join(directory, wanted), wanted);
      if (candidate !== null) return candidate;
    }
  }
  return { kind: 'not-found' };
}

async function findCandidate(files: FileSystem, path: string, name: string): Promise<UnitCandidate | null> {
  const found = await files.lookAt(path);
  if (found?.kind === 'link') return resolveLink(files, path, name, found.target);
  if (found?.kind !== 'file') return null;
  return found.size === 0 ? { kind: 'masked', at: path } : { kind: 'file', path };
}

async function resolveLink(
  files: FileSystem,
  path: string,
  name: string,
  target: string,
): Promise<UnitCandidate | null> {
  if (target === '/dev/null') return { kind: 'masked', at: path };
  const leadsTo = posix.resolve(posix.dirname(path), target);
  if (!UNIT_DIRECTORIES.includes(posix.dirname(leadsTo))) {
    return (await followLinks(files, leadsTo)) === undefined ? null : { kind: 'linked', at: leadsTo };
  }
  if (posix.basename(leadsTo) !== name) return { kind: 'alias', name: posix.basename(leadsTo) };
  return findCandidate(files, leadsTo, name);
}

/**
 * Each name from the first directory that has it. Drop-ins for a type or a name prefix apply to running units but not
 * to [Install], so they are left out.
 */
async function listDropIns(files: FileSystem, name: string): Promise<string[]> {
  const byName = new Map<string, string>();
  const template = toTemplate(name);
  for (const folder of template === undefined ? [`${name}.d`] : [`${template}.d`, `${name}.d`]) {
    for (const directory of UNIT_DIRECTORIES.toReversed()) {
      const path = posix.join(directory, folder);
      for (const file of await files.list(path)) if (file.endsWith('.conf')) byName.set(file, posix.join(path, file));
    }
  }
  return [...byName.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
}

/** The combined settings of a unit file and its drop-ins: `Install.WantedBy` → all values in order. */
export type UnitSettings = ReadonlyMap<string, readonly string[]>;

/** `texts` in order of precedence. An empty value clears the earlier ones, as in systemd. */
function readUnitSettings(texts: readonly string[]): UnitSettings {
  const settings = new Map<string, readonly string[]>();
  for (const text of texts) {
    for (const { key, value } of readLines(text)) {
      settings.set(key, value === '' ? [] : [...(settings.get(key) ?? []), value]);
    }
  }
  return settings;
}

/** A list is one value with spaces, or several values. */
export function readList(settings: UnitSettings, key: string): string[] {
  return (settings.get(key) ?? []).flatMap((value) => value.split(/\s+/)).filter((word) => word !== '');
}

function readLines(text: string): { key: string; value: string }[] {
  let section = '';
  const lines: { key: string; value: string }[] = [];
  for (const line of text.replaceAll(/\\\r?\n/g, ' ').split('\n')) {
    const trimmed = line.trim();
    const header = /^\[(.+)\]$/.exec(trimmed)?.[1];
    if (header !== undefined) section = header;
    const assignment = /^([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)$/.exec(trimmed);
    if (assignment !== null) lines.push({ key: `${section}.${assignment[1] ?? ''}`, value: assignment[2] ?? '' });
  }
  return lines;
}

// Enabling.

const DEPENDENCIES = [
  ['Install.WantedBy', 'wants'],
  ['Install.RequiredBy', 'requires'],
  ['Install.UpheldBy', 'upholds'],
] as const;

export type Unit = Extract<UnitLookup, { kind: 'unit' }>;

/** The links that `systemctl enable` creates for the unit. */
export function listEnablingLinks(unit: Unit): { readonly path: string; readonly target: string }[] {
  const name = nameEnabled(unit);
  const aliases = listAliases(unit).map((alias) => `${CONFIG_DIRECTORY}/${alias}`);
  const dependencies = DEPENDENCIES.flatMap(([key, kind]) =>
    readList(unit.settings, key).map((by) => `${CONFIG_DIRECTORY}/${expandSpecifiers(by, unit.name)}.${kind}/${name}`),
  );
  // A template without an instance cannot be a dependency.
  const paths = [...aliases, ...(parseUnitName(name).instance === '' ? [] : dependencies)];
  return paths.map((path) => ({ path, target: unit.path }));
}

export function listAliases(unit: Unit): string[] {
  return readList(unit.settings, 'Install.Alias').map((alias) => expandSpecifiers(alias, unit.name));
}

/** A template with a default instance is enabled as that instance. */
export function nameEnabled(unit: Unit): string {
  const instance = unit.settings.get('Install.DefaultInstance')?.at(-1);
  return parseUnitName(unit.name).instance === '' && instance !== undefined
    ? instantiate(unit.name, instance)
    : unit.name;
}

export function canBeEnabled({ settings }: Unit): boolean {
  return [...DEPENDENCIES.map(([key]) => key), 'Install.Alias'].some((key) => readList(settings, key).length > 0);
}

// Names.

export interface UnitName {
  readonly prefix: string;
  /** Undefined: neither template nor instance. '': the template itself. */
  readonly instance: string | undefined;
  /** `.service` */
  readonly suffix: string;
}

export function parseUnitName(name: string): UnitName {
  const dot = name.lastIndexOf('.');
  const stem = dot === -1 ? name : name.slice(0, dot);
  const at = stem.indexOf('@');
  return {
    prefix: at === -1 ? stem : stem.slice(0, at),
    instance: at === -1 ? undefined : stem.slice(at + 1),
    suffix: dot === -1 ? '' : name.slice(dot),
  };
}

/** `getty@.service` for `getty@tty1.service`. Undefined if the name is not an instance. */
export function toTemplate(name: string): string | undefined {
  const { prefix, instance, suffix } = parseUnitName(name);
  return instance === undefined || instance === '' ? undefined : `${prefix}@${suffix}`;
}

export function instantiate(template: string, instance: string): string {
  const { prefix, suffix } = parseUnitName(template);
  return `${prefix}@${instance}${suffix}`;
}

/** The few specifiers that make sense in [Install]. */
function expandSpecifiers(text: string, unit: string): string {
  const { prefix, instance = '' } = parseUnitName(unit);
  const values: Readonly<Record<string, string>> = { '%n': unit, '%p': prefix, '%i': instance, '%%': '%' };
  return text.replaceAll(/%[npi%]/g, (specifier) => values[specifier] ?? specifier);
}
