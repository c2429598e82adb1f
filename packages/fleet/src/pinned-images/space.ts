// What images take: bytes to transfer, and whether they fit on the disk.
import type { Amount, PinProgress } from './pin-progress.ts';

export interface SizedLayer {
  readonly digest: string;
  /** As it is transferred. */
  readonly size: number;
}

export interface SizedImage {
  readonly layers: readonly SizedLayer[];
}

/** The layers of all these images, what they share counted once. */
export function sumImageBytes(images: Iterable<SizedImage>): number {
  let sum = 0;
  for (const size of collectLayers(images).values()) sum += size;
  return sum;
}

/** How much of the wanted images is there, when these images are: a layer is stored once, whoever brought it. */
export function computePullAmount(wanted: Iterable<SizedImage>, present: Iterable<SizedImage>): Amount {
  const there = collectLayers(present);
  let done = 0;
  let total = 0;
  for (const [digest, size] of collectLayers(wanted)) {
    total += size;
    if (there.has(digest)) done += size;
  }
  return { done, total };
}

function collectLayers(images: Iterable<SizedImage>): Map<string, number> {
  const layers = new Map<string, number>();
  for (const image of images) {
    for (const { digest, size } of image.layers) layers.set(digest, Math.max(size, layers.get(digest) ?? 0));
  }
  return layers;
}

export interface SpaceVerdict {
  readonly fits: boolean;
  /** On the disk, for what is still missing. */
  readonly needed: number;
  /** Of the free space: the rest is not for images. */
  readonly usable: number;
}

/** What is unpacked takes about twice what is transferred: for releases of the platform it does. */
const UNPACKED = 2;
const GiB = 1024 ** 3;

/** A tenth of the file system stays free, at most 2 GiB: the kubelet and others write there too. */
export function spaceFor(missingBytes: number, store: { readonly free: number; readonly size: number }): SpaceVerdict {
  const needed = UNPACKED * missingBytes;
  const usable = Math.max(0, store.free - Math.min(Math.ceil(store.size / 10), 2 * GiB));
  return { fits: needed === 0 || needed <= usable, needed, usable };
}

// Whether images fit on a machine, by what its daemon said last of its disk.

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
  return { node, ...computeFit(missing, progress.store) };
}

function computeFit(missing: number | null, store: PinProgress['store']): Omit<NodeFit, 'node'> {
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
  const { done, total } = computePullAmount(wanted.values(), present);
  return total - done;
}

/** Of other sets that the machine is still pulling. */
const stillToPull = (progress: PinProgress, sets: ReadonlySet<string>): number =>
  progress.sets
    .filter(({ name }) => !sets.has(name))
    .reduce((sum, { bytes }) => sum + (bytes === null ? 0 : bytes.total - bytes.done), 0);
