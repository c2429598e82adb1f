// The difference between two configs for a human reader: by file, unit, user and setting, not by JSON line.
import type { Report } from '../report.ts';
import type { AnyConfig } from '../spec/index.ts';
import { translate } from '../translate/index.ts';
import { rankVersion } from '../version.ts';
import { type Contents, type ContentsDiff, type ContentsMask, readContents, diffContents } from './contents.ts';
import { diffLeaves, type FieldChange, type LeafMask, type Leaves, collectLeaves } from './leaves.ts';

export interface DiffOptions {
  /** Show password hashes, LUKS keys, header values and contents of files readable only by their owner. Default: no. */
  showSecrets?: boolean;
  /** Which files' contents are secret. Default: those that group and others cannot access. */
  isSecretFile?: (path: string, mode: number | undefined) => boolean;
  /** Masks secrets in contents and fields. It must not change the number of lines. Default: shows them. */
  maskText?: (text: string) => string;
}

export interface ItemDiff {
  /** `file`, `unit`, `drop-in`, `user`, `kernel arguments`, `settings`, … */
  noun: string;
  /** Such as the path or the unit's name; '' if there is only one. */
  name: string;
  change: 'added' | 'removed' | 'changed';
  fields: FieldChange[];
  contents: { name: string; diff: ContentsDiff }[];
}

export interface ConfigDiff {
  /** Null if the configs cannot be translated to one spec version; the report explains why. */
  items: ItemDiff[] | null;
  report: Report;
}

type Plain = Readonly<Record<string, unknown>>;

/** One item of a config, split into fields for comparison. */
interface Item {
  noun: string;
  name: string;
  leaves: Leaves;
  contents: { name: string; contents: Contents }[];
  secret: boolean;
}

/** Lists of named items. */
const LISTS: readonly { noun: string; path: readonly [string, string]; keys: readonly string[] }[] = [
  { noun: 'file', path: ['storage', 'files'], keys: ['path'] },
  { noun: 'directory', path: ['storage', 'directories'], keys: ['path'] },
  { noun: 'link', path: ['storage', 'links'], keys: ['path'] },
  { noun: 'unit', path: ['systemd', 'units'], keys: ['name'] },
  { noun: 'network unit', path: ['networkd', 'units'], keys: ['name'] },
  { noun: 'user', path: ['passwd', 'users'], keys: ['name'] },
  { noun: 'group', path: ['passwd', 'groups'], keys: ['name'] },
  { noun: 'disk', path: ['storage', 'disks'], keys: ['device'] },
  { noun: 'raid', path: ['storage', 'raid'], keys: ['name'] },
  { noun: 'luks', path: ['storage', 'luks'], keys: ['name'] },
  { noun: 'filesystem', path: ['storage', 'filesystems'], keys: ['device', 'name'] },
];

export async function diffConfigs(a: AnyConfig, b: AnyConfig, options: DiffOptions = {}): Promise<ConfigDiff> {
  const [before, after] = [lift(a, b), lift(b, a)];
  const report = [...before.report, ...after.report];
  if (before.config === null || after.config === null) return { items: null, report };
  const [old, now] = await Promise.all([collectItems(before.config, options), collectItems(after.config, options)]);
  const items = versionChange(a, b);
  for (const [key, item] of old) {
    const other = now.get(key);
    const diff = await diffItem(item, other ?? nothing(item), options);
    if (other === undefined) items.push({ ...titleOf(item), change: 'removed', ...diff });
    else if (diff.fields.length + diff.contents.length > 0)
      items.push({ ...titleOf(item), change: 'changed', ...diff });
  }
  for (const [key, item] of now) {
    if (!old.has(key))
      items.push({ ...titleOf(item), change: 'added', ...(await diffItem(nothing(item), item, options)) });
  }
  return { items, report };
}

function titleOf({ noun, name }: Item): { noun: string; name: string } {
  return { noun, name };
}

/** Translates the older of two configs to the spec of the newer, so that a renamed field is not a difference. */
function lift(config: AnyConfig, other: AnyConfig): { config: AnyConfig | null; report: Report } {
  const { version } = other.ignition;
  return rankVersion(config.ignition.version) >= rankVersion(version)
    ? { config, report: [] }
    : translate(config, version);
}

function versionChange(a: AnyConfig, b: AnyConfig): ItemDiff[] {
  const [before, after] = [a.ignition.version, b.ignition.version];
  if (before === after) return [];
  const fields: FieldChange[] = [{ name: 'ignition.version', before, after }];
  return [{ noun: 'spec version', name: '', change: 'changed', fields, contents: [] }];
}

async function collectItems(config: AnyConfig, options: DiffOptions): Promise<Map<string, Item>> {
  const items = new Map<string, Item>();
  const add = (item: Item) => items.set(`${item.noun} ${item.name}`, item);
  for (const { noun, path, keys } of LISTS) {
    for (const entry of listAt(config, path)) {
      const key = keys.find((each) => typeof entry[each] === 'string') ?? '';
      const [item, ...below] = await itemsFrom(noun, readString(entry[key]) ?? '', entry, options);
      // Already the title.
      item.leaves.delete(key);
      for (const each of [item, ...below]) add(each);
    }
  }
  const { version: _shownOnItsOwn, ...settings } = config.ignition;
  const kernel = 'kernelArguments' in config ? config.kernelArguments : undefined;
  const leafMask = leafMaskOf(options);
  for (const [noun, value] of [
    ['settings', settings],
    ['kernel arguments', kernel],
  ] as const) {
    add({ noun, name: '', leaves: collectLeaves(value, leafMask), contents: [], secret: false });
  }
  return items;
}

/** An entry of a list and, for a unit, its drop-ins. */
async function itemsFrom(noun: string, name: string, entry: Plain, options: DiffOptions): Promise<[Item, ...Item[]]> {
  const { dropins, ...own } = entry;
  const item = await itemFrom(noun, name, own, options);
  if (!Array.isArray(dropins)) return [item];
  const below = dropins.map(asPlain).map(({ name: dropin, ...rest }) => {
    return itemFrom('drop-in', `${name}.d/${String(dropin)}`, rest, options);
  });
  return [item, ...(await Promise.all(below))];
}

async function itemFrom(noun: string, name: string, entry: Plain, options: DiffOptions): Promise<Item> {
  const fields: Record<string, unknown> = {};
  const contents: Item['contents'] = [];
  for (const [label, value] of Object.entries(entry).flatMap(spreadAppend)) {
    const isResource = label === 'contents' || label === 'keyFile' || label.startsWith('append[');
    const part = isResource ? await contentsIn(value) : { contents: NONE, rest: value };
    if (part.contents.kind !== 'none') contents.push({ name: label, contents: part.contents });
    if (part.rest !== undefined) fields[label] = part.rest;
  }
  const leaves = collectLeaves(fields, leafMaskOf(options));
  return { noun, name, leaves, contents, secret: isSecret(noun, entry, options) };
}

const NONE: Contents = { kind: 'none' };

/** `append` is a list of resources in spec 3, and a boolean in spec 2. */
function spreadAppend([label, value]: [string, unknown]): [string, unknown][] {
  if (label !== 'append' || !Array.isArray(value)) return [[label, value]];
  return value.map((each: unknown, index) => [`append[${index}]`, each]);
}

/** The text of a unit, or the contents of a resource and its other fields. */
async function contentsIn(value: unknown): Promise<{ contents: Contents; rest: unknown }> {
  if (typeof value === 'string')
    return { contents: { kind: 'bytes', bytes: new TextEncoder().encode(value) }, rest: undefined };
  if (typeof value !== 'object' || value === null) return { contents: NONE, rest: value };
  const { source, compression, ...rest } = asPlain(value);
  return { contents: await readContents(readString(source), readString(compression)), rest };
}

function isSecret(noun: string, entry: Plain, options: DiffOptions): boolean {
  if (options.showSecrets === true) return false;
  if (noun === 'luks') return true;
  if (noun !== 'file') return false;
  const { path, mode } = entry;
  const isSecretFile = options.isSecretFile ?? ((_path, bits) => bits !== undefined && (bits & 0o077) === 0);
  return isSecretFile(readString(path) ?? '', typeof mode === 'number' ? mode : undefined);
}

function leafMaskOf({ showSecrets = false, maskText = showWhole }: DiffOptions): LeafMask {
  return { showSecrets, maskText: showSecrets ? showWhole : maskText };
}

const showWhole = (text: string): string => text;

async function diffItem(old: Item, now: Item, options: DiffOptions): Promise<Pick<ItemDiff, 'fields' | 'contents'>> {
  const { maskText } = leafMaskOf(options);
  return {
    fields: diffLeaves(old.leaves, now.leaves),
    contents: await diffParts(old.contents, now.contents, { hidden: old.secret || now.secret, maskText }),
  };
}

async function diffParts(
  old: Item['contents'],
  now: Item['contents'],
  mask: ContentsMask,
): Promise<ItemDiff['contents']> {
  const before = new Map(old.map((part) => [part.name, part.contents]));
  const after = new Map(now.map((part) => [part.name, part.contents]));
  const parts: ItemDiff['contents'] = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const diff = await diffContents(before.get(name) ?? NONE, after.get(name) ?? NONE, mask);
    if (diff !== null) parts.push({ name, diff });
  }
  return parts;
}

/** The same item without fields, to compare with an item that exists on one side only. */
function nothing(item: Item): Item {
  return { ...item, leaves: new Map(), contents: [] };
}

function listAt(config: Plain, [section, list]: readonly [string, string]): Plain[] {
  const value = asPlain(config[section])[list];
  return Array.isArray(value) ? value.map(asPlain) : [];
}

function asPlain(value: unknown): Plain {
  return typeof value === 'object' && value !== null ? (value as Plain) : {};
}

function readString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
