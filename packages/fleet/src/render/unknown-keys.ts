// Keys of an Ignition config that its spec version does not define. Ignition ignores them, and so does the Machine Config
// Operator: a typo costs a file its contents without a word. Here they are warnings that name the key that was meant, and
// errors where nothing is left of the entry.
import { isRecord } from '@slipway/base/json';
import { nearNames } from '@slipway/base/near-names';
import { count } from '@slipway/base/text';
import {
  formatPath,
  isSpecVersion,
  NEWEST_VERSION,
  type ReportEntry,
  type Shape,
  specOf,
  type SpecVersion,
} from '@slipway/ignition';

interface UnknownKey {
  readonly at: readonly (string | number)[];
  readonly key: string;
  readonly shape: Shape;
  /** Nothing that matters is left of the object. */
  readonly isEmpty: boolean;
}

/** What an entry is for, by its noun: without all of these it is empty. */
const PAYLOADS: Readonly<Record<string, readonly string[]>> = {
  config: ['kernelArguments', 'passwd', 'storage', 'systemd'],
  dropin: ['contents'],
  file: ['append', 'contents'],
  passwd: ['groups', 'users'],
  resource: ['source'],
  storage: ['directories', 'disks', 'files', 'filesystems', 'links', 'luks', 'raid'],
  systemd: ['units'],
  unit: ['contents', 'dropins', 'enabled', 'mask'],
  user: ['passwordHash', 'sshAuthorizedKeys'],
};

/** `raw`: a config that parses. */
export function findUnknownKeys(raw: unknown): ReportEntry[] {
  if (!isRecord(raw) || !isRecord(raw['ignition'])) return [];
  const { version } = raw['ignition'];
  if (typeof version !== 'string' || !isSpecVersion(version)) return [];
  const groups = new Map<string, UnknownKey[]>();
  for (const unknown of listUnknownKeys(specOf(version), raw, [])) {
    const name = `${unknown.shape.name} ${unknown.key} ${unknown.isEmpty}`;
    groups.set(name, [...(groups.get(name) ?? []), unknown]);
  }
  return [...groups.values()].flatMap((same) => describeGroup(same, version));
}

function* listUnknownKeys(shape: Shape, value: Record<string, unknown>, at: UnknownKey['at']): Generator<UnknownKey> {
  const isEmpty = PAYLOADS[shape.name]?.every((key) => value[key] === undefined) ?? false;
  for (const [key, field] of Object.entries(value)) {
    if (!Object.hasOwn(shape.fields, key)) yield { at: [...at, key], key, shape, isEmpty };
    else if (shape.fields[key] !== undefined) yield* listInField(shape.fields[key].kind, field, [...at, key]);
  }
}

function* listInField(kind: Kind, value: unknown, at: UnknownKey['at']): Generator<UnknownKey> {
  if (kind.type === 'object' && isRecord(value)) yield* listUnknownKeys(kind, value, at);
  if (kind.type !== 'list' || !Array.isArray(value)) return;
  for (const [index, item] of value.entries()) yield* listInField(kind.item, item, [...at, index]);
}

type Kind = Shape['entries'][number][1]['kind'];

/** The same key of the same noun: one warning for all, and one error for each. */
function describeGroup(same: readonly UnknownKey[], version: SpecVersion): ReportEntry[] {
  const [first] = same;
  if (first === undefined) return [];
  const { key, shape, isEmpty } = first;
  const hint = findHint(key, shape, version);
  if (isEmpty && hint?.isLost === true) {
    const message = `the key ${JSON.stringify(shorten(key))} ${hint.text}. Ignition ignores it, and this ${shape.name} would be empty`;
    return same.map(({ at }) => ({ kind: 'error', path: formatPath([...at]), message }));
  }
  const others = same.length === 1 ? '' : ` (also in ${count(same.length - 1, 'other place')})`;
  const why = hint?.text ?? `is not part of spec ${version}`;
  const message = `the key ${JSON.stringify(shorten(key))} ${why}. Ignition ignores it${others}`;
  return [{ kind: 'warning', path: formatPath([...first.at]), message }];
}

const shorten = (key: string): string => (key.length > 80 ? `${key.slice(0, 80)}…` : key);

interface Hint {
  readonly text: string;
  /** It stands for what the entry is for. */
  readonly isLost: boolean;
}

function findHint(key: string, shape: Shape, version: SpecVersion): Hint | null {
  const payload = PAYLOADS[shape.name] ?? [];
  if (shape.name === 'resource' && (key === 'inline' || key === 'local')) {
    return { text: 'belongs to Butane: run butane first, or write source: data:,…', isLost: true };
  }
  const [near] = nearNames(toCamelCase(key), Object.keys(shape.fields));
  if (near !== undefined) return { text: `must be named ${near}`, isLost: payload.includes(near) };
  const place = findPlace(key, version);
  if (place !== null) return { text: `belongs to ${place}`, isLost: true };
  if (isKeyOf(NEWEST_VERSION, key, shape.name)) {
    return { text: `belongs to a newer spec than ${version}`, isLost: payload.includes(key) };
  }
  if (isKeyOf('2.4.0', key, shape.name)) return { text: 'belongs to spec 2', isLost: false };
  return shape.name === 'resource' ? { text: `is not part of spec ${version}`, isLost: true } : null;
}

/** Butane has snake case. */
const toCamelCase = (key: string): string =>
  key.slice(0, 120).replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The section that has this key: `storage` for `files`. */
function findPlace(key: string, version: SpecVersion): string | null {
  const { entries, fields } = specOf(version);
  if (Object.hasOwn(fields, key)) return 'the top of the config';
  const section = entries.find(([, { kind }]) => kind.type === 'object' && Object.hasOwn(kind.fields, key));
  return section?.[0] ?? null;
}

function isKeyOf(version: SpecVersion, key: string, noun: string): boolean {
  const has = (kind: Kind): boolean => {
    if (kind.type === 'list') return has(kind.item);
    if (kind.type !== 'object') return false;
    return (kind.name === noun && Object.hasOwn(kind.fields, key)) || kind.entries.some(([, field]) => has(field.kind));
  };
  return has(specOf(version));
}
