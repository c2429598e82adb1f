// The origin of everything in a rendered config: `git blame` for a machine.
import { decodeDataUrl, type Origin } from '@slipway/ignition';
import { maskContents, maskField, type Masking } from './masking.ts';
import type { RenderProvenance, SettingOrigin } from './render/diff.ts';
import type { RenderResult } from './render/render-pool.ts';

export interface ExplainedField extends Origin {
  /** Relative to its item, such as `mode` or `contents.source`. */
  readonly name: string;
  /** Masked; for contents only the size. */
  readonly value: string;
}

export interface Explained {
  /** `file`, `unit`, `drop-in`, `ssh key`, `kernel argument` and so on. */
  readonly noun: string;
  /** The path, the name of the unit, or the argument. */
  readonly name: string;
  /** The last MachineConfig that set it. */
  readonly setBy: string;
  /** The MachineConfigs whose values were overridden, in merge order. */
  readonly overrode: readonly string[];
  readonly fields: readonly ExplainedField[];
}

type Rendered = Extract<RenderResult, { ok: true }>;

/** Everything in the rendered config, or the items with this path or name: `/etc/chrony.conf`, `crio.service`, `core`, `nosmt`. */
export function explain(
  result: Pick<Rendered, 'rendered' | 'provenance'>,
  path?: string,
  masking: Masking = {},
): Explained[] {
  const { rendered, provenance } = result;
  const things = [...ignitionThings(rendered.spec.config, provenance, masking), ...settingThings(provenance, masking)];
  return path === undefined ? things : things.filter((thing) => isAbout(thing, path));
}

/** A unit matches with its drop-ins, and a user with its keys. */
function isAbout({ name }: Explained, asked: string): boolean {
  return name === asked || name.startsWith(`${asked}.d/`) || name.startsWith(`${asked} `);
}

const SETTING_NOUNS: Readonly<Record<SettingOrigin['setting'], string>> = {
  kernelArgument: 'kernel argument',
  extension: 'extension',
  kernelType: 'kernel type',
  fips: 'FIPS mode',
  osImageURL: 'OS image',
  baseOSExtensionsContainerImage: 'OS extensions image',
};

function settingThings(provenance: RenderProvenance, masking: Masking): Explained[] {
  return provenance.settings().map(({ setting, value, from, overrode }) => {
    return { noun: SETTING_NOUNS[setting], name: maskContents(value, masking), setBy: from, overrode, fields: [] };
  });
}

/** An item while its fields are collected from the leaves of the config. */
interface Gathering {
  readonly noun: string;
  readonly name: string;
  readonly fields: ExplainedField[];
}

function ignitionThings(config: unknown, provenance: RenderProvenance, masking: Masking): Explained[] {
  const order = new Map(provenance.inputs.map((name, index) => [name, index]));
  const things = new Map<string, Gathering>();
  for (const [path, origin] of provenance.config) {
    const place = locateSetting(config, path);
    if (place === null) continue;
    const { noun, name, field, value } = place;
    const thing = things.get(`${noun} ${name}`) ?? { noun, name, fields: [] };
    things.set(`${noun} ${name}`, thing);
    thing.fields.push({ name: field, value: showValue(field, value, masking), ...origin });
  }
  return [...things.values()].map((thing) => summarise(thing, order));
}

function summarise({ noun, name, fields }: Gathering, order: ReadonlyMap<string, number>): Explained {
  const rank = (machineConfig: string): number => order.get(machineConfig) ?? -1;
  const setBy = fields.map((field) => field.from).reduce((last, from) => (rank(from) > rank(last) ? from : last));
  const before = new Set(fields.flatMap((field) => field.overrode));
  before.delete(setBy);
  return { noun, name, setBy, overrode: [...before].sort((a, b) => rank(a) - rank(b)), fields };
}

const LISTS: Readonly<Record<string, { noun: string; key: string }>> = {
  'storage.files': { noun: 'file', key: 'path' },
  'storage.directories': { noun: 'directory', key: 'path' },
  'storage.links': { noun: 'link', key: 'path' },
  'storage.disks': { noun: 'disk', key: 'device' },
  'storage.raid': { noun: 'raid', key: 'name' },
  'storage.luks': { noun: 'luks', key: 'name' },
  'storage.filesystems': { noun: 'filesystem', key: 'device' },
  'systemd.units': { noun: 'unit', key: 'name' },
  'passwd.users': { noun: 'user', key: 'name' },
  'passwd.groups': { noun: 'group', key: 'name' },
};

/** The noun of the items of a list such as `storage.files`; undefined for other fields. */
export const nounOfList = (list: string): string | undefined => LISTS[list]?.noun;

interface ConfigLocation {
  readonly noun: string;
  readonly name: string;
  readonly field: string;
  readonly value: unknown;
}

/** The item that a leaf of the config belongs to. Null for the spec version, which no user chose. */
function locateSetting(config: unknown, path: string): ConfigLocation | null {
  if (path === 'ignition.version') return null;
  const segments = path.split(/[.[\]]+/).filter((segment) => segment !== '');
  const value = valueAt(config, segments);
  const [section = '', list = '', index = '', ...rest] = segments;
  const known = LISTS[`${section}.${list}`];
  if (known === undefined)
    return { noun: section === 'kernelArguments' ? 'boot argument' : 'setting', name: path, field: '', value };
  const item = valueAt(config, [section, list, index]);
  const name = textIn(item, known.key);
  return locateInside(known.noun, name, item, { rest, value });
}

function locateInside(
  noun: string,
  name: string,
  item: unknown,
  leaf: { rest: string[]; value: unknown },
): ConfigLocation {
  const { rest, value } = leaf;
  if (noun === 'unit' && rest[0] === 'dropins') {
    const dropin = textIn(valueAt(item, rest.slice(0, 2)), 'name');
    return { noun: 'drop-in', name: `${name}.d/${dropin}`, field: rest.slice(2).join('.'), value };
  }
  if (noun === 'user' && rest[0] === 'sshAuthorizedKeys') {
    return { noun: 'ssh key', name: `${name} ${shortKey(String(value))}`, field: '', value };
  }
  return { noun, name, field: joinField(rest), value };
}

function joinField(segments: readonly string[]): string {
  return segments
    .map((segment, index) => (/^\d+$/.test(segment) ? `[${segment}]` : `${index === 0 ? '' : '.'}${segment}`))
    .join('');
}

/** The type and comment, by which users recognise a key, and the end of the key. */
function shortKey(key: string): string {
  const [type = '', body = '', ...comment] = key.trim().split(/\s+/);
  return [type, `…${body.slice(-12)}`, ...comment].join(' ');
}

function showValue(field: string, value: unknown, masking: Masking): string {
  const text = String(value);
  if (/(?:^|\.)source$/.test(field)) return formatSize(text);
  if (field === 'contents') return `${new TextEncoder().encode(text).length} bytes`;
  if (field === 'mode' && typeof value === 'number') return `0${value.toString(8)}`;
  return maskField(field, text, masking);
}

function formatSize(source: string): string {
  const decoded = decodeDataUrl(source);
  return `${decoded.ok ? decoded.bytes.length : 0} bytes`;
}

function valueAt(value: unknown, segments: readonly string[]): unknown {
  let found = value;
  for (const segment of segments) {
    found = typeof found === 'object' && found !== null ? Reflect.get(found, segment) : undefined;
  }
  return found;
}

function textIn(item: unknown, key: string): string {
  const text = valueAt(item, [key]);
  return typeof text === 'string' ? text : '';
}
