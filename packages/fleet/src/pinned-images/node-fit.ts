// Whether images fit on a machine, by what its daemon said last of its disk.
import type { PinProgress } from './pin-progress.ts';
import { amountOf, type SizedImage, spaceFor } from './space.ts';

export interface NodeFit {
  readonly node: string;
  /**
   * `may not fit`: it would not if the machine had none of the images yet. The machine itself knows which layers it has; where
   * it really does not fit, it pulls nothing and says so.
   */
  readonly verdict: 'fits' | 'may not fit' | 'not known';
  /** On the disk, at most; null: sizes are not known. */
  readonly neededBytes: number | null;
  /** Free, without the reserve that is left for others; null: its daemon has not said it yet. */
  readonly usableBytes: number | null;
}

export interface FitRequest {
  readonly node: string;
  readonly progress: PinProgress;
  /** By name; null: nobody was asked for their sizes. */
  readonly wanted: ReadonlyMap<string, SizedImage> | null;
  /** Images that the node holds already, by name. */
  readonly held: ReadonlySet<string>;
  /** Sets that the images are going to be in: what is missing of them is counted once. */
  readonly sets: ReadonlySet<string>;
}

export function nodeFit({ node, progress, wanted, held, sets }: FitRequest): NodeFit {
  const missing = wanted === null ? null : missingBytes(wanted, held) + stillToPull(progress, sets);
  return { node, ...spaceOf(missing, progress.store) };
}

function spaceOf(missing: number | null, store: PinProgress['store']): Omit<NodeFit, 'node'> {
  const neededBytes = missing === null ? null : diskBytesFor(missing);
  if (store === null) return { verdict: 'not known', neededBytes, usableBytes: null };
  // Also where sizes are not known, how much room there is.
  const { fits, usable } = spaceFor(missing ?? 0, store);
  const verdict = fits ? 'fits' : 'may not fit';
  return { verdict: missing === null ? 'not known' : verdict, neededBytes, usableBytes: usable };
}

/** What so many transferred bytes take on a disk. */
export const diskBytesFor = (bytes: number): number => spaceFor(bytes, { free: 0, size: 0 }).needed;

function missingBytes(wanted: ReadonlyMap<string, SizedImage>, held: ReadonlySet<string>): number {
  const present = [...wanted].filter(([name]) => held.has(name)).map(([, image]) => image);
  const { done, total } = amountOf(wanted.values(), present);
  return total - done;
}

/** Of other sets that the machine is still pulling. */
const stillToPull = (progress: PinProgress, sets: ReadonlySet<string>): number =>
  progress.sets
    .filter(({ name }) => !sets.has(name))
    .reduce((sum, { bytes }) => sum + (bytes === null ? 0 : bytes.total - bytes.done), 0);
