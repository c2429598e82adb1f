// The fields of an item in a config, flattened to text, with secrets masked.
import { maskUrl } from '../resolve/problem.ts';

/** A value of a field: one form to compare, one to show. */
export interface Leaf {
  raw: string;
  shown: string;
}

/** Path of a field → its values; several for a list of plain values. */
export type Leaves = Map<string, Leaf[]>;

export interface FieldChange {
  /** Such as `mode`, `user.name`, `sshAuthorizedKeys`. */
  name: string;
  /** Null: absent on this side. */
  before: string | null;
  after: string | null;
}

const HIDDEN = '(hidden)';
/** `value` is that of an HTTP header. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['passwordHash', 'value']);
const URL_FIELDS: ReadonlySet<string> = new Set(['source', 'httpProxy', 'httpsProxy', 'url']);

export interface LeafMask {
  readonly showSecrets: boolean;
  readonly maskText: (text: string) => string;
}

export function collectLeaves(value: unknown, mask: LeafMask): Leaves {
  const leaves: Leaves = new Map();
  const visit = (each: unknown, path: string, name: string): void => {
    if (Array.isArray(each)) {
      for (const [index, item] of each.entries()) visit(item, isPlain(item) ? path : `${path}[${index}]`, name);
    } else if (!isPlain(each)) {
      for (const [key, field] of Object.entries(each)) visit(field, path === '' ? key : `${path}.${key}`, key);
    } else if (each !== undefined) {
      const leaf = { raw: String(each), shown: format(each, name, mask) };
      leaves.set(path, [...(leaves.get(path) ?? []), leaf]);
    }
  };
  visit(value, '', '');
  return leaves;
}

/** A field with one value changes; in a field with several, values are added and removed. */
export function diffLeaves(old: Leaves, now: Leaves): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [before, after] = [old.get(name) ?? [], now.get(name) ?? []];
    const isList = before.length > 1 || after.length > 1;
    changes.push(...(isList ? diffLists(name, before, after) : diffValues(name, before[0], after[0])));
  }
  return changes;
}

function diffValues(name: string, before: Leaf | undefined, after: Leaf | undefined): FieldChange[] {
  if (before === undefined || after === undefined) {
    const isThere = before !== after;
    return isThere ? [{ name, before: before?.shown ?? null, after: after?.shown ?? null }] : [];
  }
  if (before.raw === after.raw) return [];
  // Two hidden secrets look the same, so a difference must be stated.
  const shown = before.shown === after.shown ? `${after.shown}, changed` : after.shown;
  return [{ name, before: before.shown, after: shown }];
}

function diffLists(name: string, before: Leaf[], after: Leaf[]): FieldChange[] {
  const had = new Set(before.map((leaf) => leaf.raw));
  const has = new Set(after.map((leaf) => leaf.raw));
  const gone = before.filter((leaf) => !has.has(leaf.raw)).map((leaf) => ({ name, before: leaf.shown, after: null }));
  const come = after.filter((leaf) => !had.has(leaf.raw)).map((leaf) => ({ name, before: null, after: leaf.shown }));
  const isSame = before.length === after.length && before.every((leaf, index) => leaf.raw === after[index]?.raw);
  if (gone.length + come.length > 0 || isSame) return [...gone, ...come];
  const joined = (leaves: Leaf[]) => leaves.map((leaf) => leaf.shown).join(' ');
  return [{ name, before: joined(before), after: joined(after) }];
}

function isPlain(value: unknown): value is string | number | boolean | null | undefined {
  return typeof value !== 'object' || value === null;
}

function format(value: string | number | boolean | null, name: string, { showSecrets, maskText }: LeafMask): string {
  if (name === 'mode' && typeof value === 'number') return `0${value.toString(8)}`;
  const text = String(value);
  if (showSecrets) return text;
  if (SECRET_FIELDS.has(name)) return HIDDEN;
  return maskText(URL_FIELDS.has(name) ? maskUrl(text) : text);
}
