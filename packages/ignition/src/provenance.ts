// Which input set a field of a merged config, and which inputs it overrode: the merged tree and how to read it.
import { joinIndex, joinKey } from './report.ts';
import type { Kind, Shape } from './spec/field.ts';

/** The origin of one field of the result. */
export interface Origin {
  /** Name of the input that set it. */
  readonly from: string;
  /** Names of the inputs that set it earlier, oldest first. */
  readonly overrode: readonly string[];
}

/** By path of every leaf of the result. A Map satisfies this; the one that merge returns is filled on first use. */
export interface Provenance extends Iterable<[string, Origin]> {
  readonly size: number;
  get(path: string): Origin | undefined;
  has(path: string): boolean;
  entries(): IterableIterator<[string, Origin]>;
}

/** A part of the tree that equals one input. Most of a merged config does, and is never split. */
interface Whole {
  readonly type: 'whole';
  readonly value: unknown;
  /** Index of the input. */
  readonly from: number;
  /** The previous value. */
  readonly before: Cell | undefined;
}

export interface Branch {
  readonly type: 'branch';
  readonly shape: Shape;
  readonly fields: Map<string, Cell>;
}

export interface Sequence {
  readonly type: 'sequence';
  readonly item: Kind;
  /** Undefined if an item was removed. */
  readonly items: (Cell | undefined)[];
  /** Key → indexes of the items that have it; null for a list without keys. */
  readonly places: Map<string, number[]> | null;
}

export type Cell = Whole | Branch | Sequence;

export class MergedProvenance implements Provenance {
  readonly #root: Cell;
  readonly #names: readonly string[];
  #origins: ReadonlyMap<string, Origin> | undefined;

  constructor(root: Cell, names: readonly string[]) {
    this.#root = root;
    this.#names = names;
  }

  get size(): number {
    return this.#all().size;
  }

  get(path: string): Origin | undefined {
    return this.#all().get(path);
  }

  has(path: string): boolean {
    return this.#all().has(path);
  }

  entries(): IterableIterator<[string, Origin]> {
    return this.#all().entries();
  }

  [Symbol.iterator](): IterableIterator<[string, Origin]> {
    return this.entries();
  }

  #all(): ReadonlyMap<string, Origin> {
    this.#origins ??= collectOrigins(this.#root, this.#names);
    return this.#origins;
  }
}

function collectOrigins(root: Cell, names: readonly string[]): Map<string, Origin> {
  const origins = new Map<string, Origin>();
  const nameOf = (index: number): string => names[index] ?? '';

  const visit = (cell: Cell, path: string): void => {
    if (cell.type === 'whole') return visitValue(cell.value, cell, path);
    if (cell.type === 'branch') {
      for (const [name, field] of cell.fields) visit(field, joinKey(path, name));
      return;
    }
    let index = 0;
    for (const item of cell.items) {
      if (item === undefined) continue;
      visit(item, joinIndex(path, index));
      index += 1;
    }
  };

  const visitValue = (value: unknown, cell: Whole, path: string): void => {
    if (Array.isArray(value)) {
      value.forEach((item, index) =>
        visitValue(item, { type: 'whole', value: item, from: cell.from, before: undefined }, joinIndex(path, index)),
      );
      return;
    }
    const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    for (const name of names) {
      const field = getCellField(cell, name);
      if (field?.type === 'whole') visitValue(field.value, field, joinKey(path, name));
    }
    if (names.length === 0) {
      origins.set(path, { from: nameOf(cell.from), overrode: listSetters(cell.before).map(nameOf) });
    }
  };

  visit(root, '');
  return origins;
}

/** Inputs that set this leaf, oldest first. */
function listSetters(cell: Cell | undefined): number[] {
  const setters: number[] = [];
  for (let at = cell; at?.type === 'whole'; at = at.before) setters.push(at.from);
  return setters.toReversed();
}

/** One field of an object cell, with its previous value. */
export function getCellField(cell: Cell | undefined, name: string): Cell | undefined {
  if (cell === undefined || cell.type === 'sequence') return undefined;
  if (cell.type === 'branch') return cell.fields.get(name);
  const { value, from, before } = cell;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const field: unknown = Reflect.get(value, name);
  return { type: 'whole', value: field, from, before: getCellField(before, name) };
}
