// What makes two list items the same one: the table behind merging and behind the rule against duplicates.
import { isZero, type Kind, type Shape, getZeroValue } from './spec/field.ts';

type KeyRule = string | ((item: Readonly<Record<string, unknown>>) => string);

/** Key of an item, by the noun of its shape. Items that are plain strings are their own key. */
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

/** By number; the number 0 asks for the next free one, so then by label. */
function partitionKey({ number, label }: Readonly<Record<string, unknown>>): string {
  if (typeof number === 'number' && number !== 0) return `number:${number}`;
  return typeof label === 'string' ? `label:${label}` : '';
}

/** Lists without keys: the child's items are put after the parent's, and the same item may stand twice. */
const CONCATENATED: ReadonlySet<string> = new Set([
  'file.append',
  'filesystem.mountOptions',
  'filesystem.options',
  'luks.options',
  'raid.options',
]);

/** Lists of one object that share one space of keys: an item in one of them displaces the same key in the others. */
const SHARED_KEYS: Readonly<Record<string, readonly string[]>> = {
  kernelArguments: ['shouldExist', 'shouldNotExist'],
  storage: ['directories', 'files', 'links'],
};

/**
 * Objects taken whole from the child when it brings another value of this field. The parent's compression, hash and headers
 * belong to the parent's source; kept beside another source they would break it, or send its headers to another server.
 */
const UNITS: Readonly<Record<string, string>> = { resource: 'source' };

/**
 * Fields that are one thing: a child that sets none of them leaves the parent's alone, though up to 3.2 the target of a link
 * is a string that cannot be absent, and an empty one would win.
 */
const TOGETHER: Readonly<Record<string, readonly string[]>> = { link: ['hard', 'target'] };

/** An item of this noun without this field takes the parent's item away. */
const REMOVED_WITHOUT: Readonly<Record<string, string>> = { header: 'value' };

export function isConcatenated(owner: string, field: string): boolean {
  return CONCATENATED.has(`${owner}.${field}`);
}

/** The other lists of the same owner whose items this list displaces. */
export function sharedWith(owner: string, field: string): readonly string[] {
  const lists = SHARED_KEYS[owner];
  return lists?.includes(field) === true ? lists.filter((name) => name !== field) : [];
}

/** Fields of an object that the child does not speak of, whatever it has in them. */
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

/** How to get the key of an item of this kind; looked up once a list, called once an item. */
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
