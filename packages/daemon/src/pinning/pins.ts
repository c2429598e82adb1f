// Which sets are pinned next. Nothing of a set is pinned before all of it is there, and what was pinned stays until then, so that
// space can be freed at any time by taking a set away, and no image that is needed is given up for one that is not there yet.
import type { WantedSet } from './wanted-set.ts';

export interface PinsInput {
  readonly wanted: readonly WantedSet[];
  /** Sets that are wanted, but are not known now: what is pinned of them stays. */
  readonly unknown: ReadonlySet<string>;
  /** By name, of whatever generation. */
  readonly pinned: readonly WantedSet[];
  readonly present: ReadonlySet<string>;
  /** The node is Ready and has no disk pressure. If not, pins can only become fewer. */
  readonly isWell: boolean;
}

/** By name. */
export function decidePins({ wanted, unknown, pinned, present, isWell }: PinsInput): WantedSet[] {
  const before = new Map(pinned.map((set) => [set.name, set]));
  const protectedNow = new Set(pinned.flatMap(({ images }) => images));
  const next = wanted.flatMap((set) => {
    const mayChange = isWell || set.images.every((image) => protectedNow.has(image));
    if (mayChange && isComplete(set, present)) return [set];
    return before.get(set.name) ?? [];
  });
  const held = pinned.filter(({ name }) => unknown.has(name));
  return [...next, ...held].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export const isComplete = ({ images }: WantedSet, present: ReadonlySet<string>): boolean =>
  images.every((image) => present.has(image));

/** Whether the same images are pinned for the same sets. */
export function isSamePins(a: readonly WantedSet[], b: readonly WantedSet[]): boolean {
  return JSON.stringify(a.map(shape)) === JSON.stringify(b.map(shape));
}

const shape = ({ name, uid, generation, images }: WantedSet): unknown => [name, uid, generation, images];
