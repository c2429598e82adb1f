// Defines when two list items are the same: the tables for merging and for the rule against duplicates.
import { isZero, type Kind, type Shape, getZeroValue } from './spec/field.ts';

type KeyRule = string | ((item: Readonly<Record<string, unknown>>) => string);

/** Key of an item, by the noun of its shape. Plain strings are their own key. */
const ITEM_KEYS: Readonly<Record<string, KeyRule>> = {
  directory: 'path',
  disk: 'device',
  dropin: 'name',
  file: 'path',
  filesystem: 'device',
  group: 'name',
  header: 'name',
  link: 'path',
  luks: 'name',
  partition: partitionKey,
  raid: 'name',
  resource: 'source',
  tang: 'url',
  unit: 'name',
  user: 'name',
};

/** By number. The number 0 requests the next free one, so then by label. */
function partitionKey({ number, label }: Readonly<Record<string, unknown>>): string {
  if (typeof number === 'number' && number !== 0) return `number:${number}`;
  return typeof label === 'string' ? `label:${label}` : '';
}

/** Lists without keys: the child's items follow the parent's, and an item may be repeated. */
const CONCATENATED: ReadonlySet<string> = new Set([
  'file.append',
  'filesystem.mountOptions',
  'filesystem.options',
  'luks.options',
  'raid.options',
]);

/** Lists of one object that share a key space: an item in one displaces the same key in the others. */
const SHARED_KEYS: Readonly<Record<string, readonly string[]>> = {
  kernelArguments: ['shouldExist', 'shouldNotExist'],
  storage: ['directories', 'files', 'links'],
};

/**
 * Objects replaced as a whole if the child sets another value of this field. The parent's compression, hash and headers
 * belong to the parent's source; with another source they would break it, or be sent to another server.
 */
const UNITS: Readonly<Record<string, string>> = { resource: 'source' };

/**
 * Fields that form a unit: a child that sets none of them leaves the parent's unchanged. Up to 3.2 the target of a link
 * cannot be absent, and its empty string would otherwise win.
 */
const TOGETHER: Readonly<Record<string, readonly string[]>> = { link: ['hard', 'target'] };

/** An item of this noun without this field removes the parent's item. */
const REMOVED_WITHOUT: Readonly<Record<string, string>> = { header: 'value' };

export function isConcatenated(owner: string, field: string): boolean {
  return CONCATENATED.has(`${owner}.${field}`);
}

/** The other lists of the same owner whose items this list displaces. */
export function sharedWith(owner: string, field: string): readonly string[] {
  const lists = SHARED_KEYS[owner];
  return lists?.includes(field) === true ? lists.filter((name) => name !== field) : [];
}

/** Fields that the child does not set, although they have a value. */
export function untouched(shape: Shape, child: Readonly<Record<string, unknown>>): readonly string[] {
  const fields = TOGETHER[shape.name] ?? [];
  const isUnsaid = (name: string) =>
    child[name] === undefined || (shape.fields[name]?.presence !== 'ifset' && isZero(child[name]));
  return fields.every(isUnsaid) ? fields : [];
}

export function unitField(shapeName: string): string | null {
  return UNITS[shapeName] ?? null;
}

export function removes(shapeName: string, item: Readonly<Record<string, unknown>>): boolean {
  const field = REMOVED_WITHOUT[shapeName];
  return field !== undefined && item[field] === undefined;
}

/** Returns the key function for items of this kind; looked up once per list, called once per item. */
export function keyFunction(item: Kind): (value: unknown) => string {
  if (item.type !== 'object') return (value) => (typeof value === 'string' ? value : String(getZeroValue(item)));
  const rule = ITEM_KEYS[item.name];
  if (typeof rule === 'function') return (value) => rule(asObject(value));
  if (rule === undefined) return () => '';
  return (value) => {
    const key = asObject(value)[rule];
    return typeof key === 'string' ? key : '';
  };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
