// Merges configs of one spec-3 version: each later config onto the base, by the tables of the spec and of merge-keys.
// Each input takes time proportional to its own size: the growing tree indexes its items by key.
import { isConcatenated, keyFunction, removes, sharedWith, unitField, untouched } from './merge-keys.ts';
import {
  type Branch,
  type Cell,
  getCellField,
  MergedProvenance,
  type Provenance,
  type Sequence,
} from './provenance.ts';
import { type Field, isZero, type Kind, type Shape } from './spec/field.ts';
import { type ConfigOf, specOf } from './spec/index.ts';
import type { SpecVersion3 } from './version.ts';

export interface MergeInput<V extends SpecVersion3 = SpecVersion3> {
  /** The name of this input in the provenance. */
  readonly name: string;
  readonly config: ConfigOf<V>;
}

export interface Merged<V extends SpecVersion3 = SpecVersion3> {
  /** Shares unchanged parts with the inputs: treat all of them as read-only. */
  readonly config: ConfigOf<V>;
  readonly provenance: Provenance;
}

type Plain = Readonly<Record<string, unknown>>;

export function merge<V extends SpecVersion3>(inputs: readonly MergeInput<V>[]): Merged<V> {
  const [base] = inputs;
  if (base === undefined) throw new TypeError('merge needs at least one config: the base');
  const version = base.config.ignition.version;
  const shape = specOf(version);
  let root: Cell = { type: 'whole', value: base.config, from: 0, before: undefined };
  inputs.slice(1).forEach(({ name, config }, index) => {
    if (config.ignition.version !== version) {
      throw new TypeError(`merge needs one spec version: ${name} has ${config.ignition.version}, the base ${version}`);
    }
    root = mergeObject(shape, root, config, index + 1);
  });
  const config = build(root);
  return {
    config: config as ConfigOf<V>,
    provenance: new MergedProvenance(
      root,
      inputs.map((input) => input.name),
    ),
  };
}

function mergeObject(shape: Shape, parent: Cell, child: Plain, from: number): Branch {
  const branch = toBranch(shape, parent);
  const lists: ListMerge[] = [];
  const alone = untouched(shape, child);
  for (const [name, field] of shape.entries) {
    const value = child[name];
    if (field.kind.type === 'list') {
      if (Array.isArray(value) && value.length > 0) lists.push({ name, item: field.kind.item, values: value });
    } else if (!alone.includes(name)) mergeField(branch, name, field, value, from);
  }
  if (lists.length > 0) mergeLists(branch, lists, from);
  return branch;
}

function mergeField(branch: Branch, name: string, field: Field, value: unknown, from: number): void {
  const { kind, presence } = field;
  const before = branch.fields.get(name);
  if (value === undefined) {
    // A scalar that cannot be absent is taken from the child even if it is empty.
    if (kind.type !== 'object' && presence !== 'ifset') branch.fields.delete(name);
    return;
  }
  if (kind.type !== 'object' || before === undefined || replacesUnit(kind, before, value)) {
    branch.fields.set(name, { type: 'whole', value, from, before });
    return;
  }
  if (!isZero(value)) branch.fields.set(name, mergeObject(kind, before, asPlain(value), from));
}

function replacesUnit(shape: Shape, before: Cell, value: unknown): boolean {
  const field = unitField(shape.name);
  if (field === null) return false;
  const brought = asPlain(value)[field];
  if (brought === undefined) return false;
  const old = getCellField(before, field);
  return old?.type !== 'whole' || old.value !== brought;
}

interface ListMerge {
  readonly name: string;
  readonly item: Kind;
  readonly values: readonly unknown[];
}

/** The child's item for a key, and its list. Of lists that share keys, the last one that has it counts. */
interface Claim {
  readonly list: string;
  readonly value: unknown;
}

function mergeLists(branch: Branch, lists: readonly ListMerge[], from: number): void {
  const owner = branch.shape.name;
  const claimed = new Map<string, Map<string, Claim>>();
  for (const list of lists) {
    if (isConcatenated(owner, list.name)) concatenate(branch, list, from);
    else claimKeys(claimed, owner, list);
  }
  const displaced = new Map<string, Cell>();
  const touched: { sequence: Sequence; key: string }[] = [];
  for (const [space, claims] of claimed) {
    for (const name of space.split(' ')) applyClaims(branch, name, claims, { displaced, touched, from });
  }
  for (const list of lists) if (!isConcatenated(owner, list.name)) appendNew(branch, list, displaced, from);
  for (const { sequence, key } of touched) sequence.places?.delete(key);
}

function claimKeys(claimed: Map<string, Map<string, Claim>>, owner: string, list: ListMerge): void {
  const space = [list.name, ...sharedWith(owner, list.name)].sort().join(' ');
  const claims = claimed.get(space) ?? new Map<string, Claim>();
  claimed.set(space, claims);
  const keyOf = keyFunction(list.item);
  for (const value of list.values) claims.set(keyOf(value), { list: list.name, value });
}

interface Step {
  /** Key → the parent's item that an item of another list displaced. */
  readonly displaced: Map<string, Cell>;
  /** Keys whose items are gone, forgotten once the child's items are in. */
  readonly touched: { sequence: Sequence; key: string }[];
  readonly from: number;
}

/** Merges, displaces or removes the parent's items of one list, as the child specifies. */
function applyClaims(branch: Branch, name: string, claims: ReadonlyMap<string, Claim>, step: Step): void {
  const sequence = toSequence(branch, name);
  if (sequence === undefined) return;
  for (const [key, claim] of claims) {
    for (const place of sequence.places?.get(key) ?? []) {
      const parent = sequence.items[place];
      if (parent === undefined) continue;
      const merged = claim.list === name ? mergeItem(sequence.item, parent, claim.value, step.from) : undefined;
      sequence.items[place] = merged;
      if (merged !== undefined) continue;
      step.touched.push({ sequence, key });
      if (claim.list !== name) step.displaced.set(key, parent);
    }
  }
}

function mergeItem(item: Kind, parent: Cell, value: unknown, from: number): Cell | undefined {
  if (item.type !== 'object') return { type: 'whole', value, from, before: parent };
  const child = asPlain(value);
  return removes(item.name, child) ? undefined : mergeObject(item, parent, child, from);
}

/** Appends the child's items whose key is not in the parent's list. */
function appendNew(branch: Branch, list: ListMerge, displaced: ReadonlyMap<string, Cell>, from: number): void {
  const { name, item, values } = list;
  const keyOf = keyFunction(item);
  const sequence = toSequence(branch, name) ?? emptySequence(item);
  const places = sequence.places ?? new Map<string, number[]>();
  const fresh = values.filter((value) => !places.has(keyOf(value)));
  for (const value of fresh) {
    const key = keyOf(value);
    addPosition(places, key, sequence.items.length);
    sequence.items.push({ type: 'whole', value, from, before: displaced.get(key) });
  }
  branch.fields.set(name, sequence);
}

function concatenate(branch: Branch, { name, item, values }: ListMerge, from: number): void {
  const sequence = toSequence(branch, name) ?? { type: 'sequence', item, items: [], places: null };
  for (const value of values) sequence.items.push({ type: 'whole', value, from, before: undefined });
  branch.fields.set(name, sequence);
}

function addPosition(places: Map<string, number[]>, key: string, place: number): void {
  const known = places.get(key);
  if (known === undefined) places.set(key, [place]);
  else known.push(place);
}

function emptySequence(item: Kind): Sequence {
  return { type: 'sequence', item, items: [], places: new Map() };
}

/** Splits an object of one input into cells, once, so that fields of another can be merged into it. */
function toBranch(shape: Shape, cell: Cell): Branch {
  if (cell.type === 'branch') return cell;
  const fields = new Map<string, Cell>();
  for (const [name] of shape.entries) {
    const field = getCellField(cell, name);
    if (field !== undefined) fields.set(name, field);
  }
  return { type: 'branch', shape, fields };
}

/** The list of a branch with its items by key, split on first use; undefined if there is none. */
function toSequence(branch: Branch, name: string): Sequence | undefined {
  const cell = branch.fields.get(name);
  if (cell === undefined || cell.type === 'sequence') return cell;
  const kind = branch.shape.fields[name]?.kind;
  if (cell.type !== 'whole' || kind?.type !== 'list' || !Array.isArray(cell.value)) return undefined;
  const places = isConcatenated(branch.shape.name, name) ? null : indexByKey(kind.item, cell.value);
  const items = cell.value.map((value): Cell => ({ type: 'whole', value, from: cell.from, before: undefined }));
  const sequence: Sequence = { type: 'sequence', item: kind.item, items, places };
  branch.fields.set(name, sequence);
  return sequence;
}

function indexByKey(item: Kind, values: readonly unknown[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  const keyOf = keyFunction(item);
  values.forEach((value, place) => addPosition(places, keyOf(value), place));
  return places;
}

/** The plain data of a cell. */
function build(cell: Cell): unknown {
  if (cell.type === 'whole') return cell.value;
  if (cell.type === 'sequence') return cell.items.flatMap((item) => (item === undefined ? [] : [build(item)]));
  const result: Record<string, unknown> = {};
  for (const [name, { presence }] of cell.shape.entries) {
    const field = cell.fields.get(name);
    if (field === undefined) continue;
    const value = build(field);
    if (presence !== 'nonzero' || !isZero(value)) result[name] = value;
  }
  return result;
}

function asPlain(value: unknown): Plain {
  return typeof value === 'object' && value !== null ? (value as Plain) : {};
}
