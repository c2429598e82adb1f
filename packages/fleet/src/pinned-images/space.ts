// The space that images need: bytes to transfer, and whether they fit on the disk.
import type { Amount, PinProgress } from './pin-progress.ts';

export interface SizedLayer {
  readonly digest: string;
  /** Compressed, as transferred. */
  readonly size: number;
}

export interface SizedImage {
  readonly layers: readonly SizedLayer[];
}

/** The layers of all these images; shared layers count once. */
export function sumImageBytes(images: Iterable<SizedImage>): number {
  let sum = 0;
  for (const size of collectLayers(images).values()) sum += size;
  return sum;
}

/** How much of the desired images is present, given these images: a shared layer is stored once. */
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
  /** On the disk, for the missing part. */
  readonly needed: number;
  /** Of the free space: the rest is reserved. */
  readonly usable: number;
}

/** Unpacked images take about twice their transferred size, as measured for platform releases. */
const UNPACKED = 2;
const GiB = 1024 ** 3;

/** A tenth of the file system, at most 2 GiB, is never used for images: the kubelet, etcd and others write there too. */
export const reservedBytes = (size: number): number => Math.min(Math.ceil(size / 10), 2 * GiB);

export function spaceFor(missingBytes: number, store: { readonly free: number; readonly size: number }): SpaceVerdict {
  const needed = UNPACKED * missingBytes;
  const usable = Math.max(0, store.free - reservedBytes(store.size));
  return { fits: needed === 0 || needed <= usable, needed, usable };
}

// Whether images fit on a machine, from the last report of its daemon about its disk.

export interface NodeFit {
  readonly node: string;
  /**
   * `may not fit`: it would not fit if the machine had none of the images. Only the machine knows its layers; if the
   * images do not fit, it pulls nothing and reports it.
   */
  readonly verdict: 'fits' | 'may not fit' | 'not known';
  /** On the disk, at most; null: sizes are unknown. */
  readonly neededBytes: number | null;
  /** Free, without the reserve; null: its daemon has not reported it yet. */
  readonly usableBytes: number | null;
}

export interface FitRequest {
  readonly node: string;
  readonly progress: PinProgress;
  /** By name; null: no registry was queried for sizes. */
  readonly wanted: ReadonlyMap<string, SizedImage> | null;
  /** Images that are already on the node, by name. */
  readonly held: ReadonlySet<string>;
  /** The future sets of the images: what is missing of them counts once. */
  readonly sets: ReadonlySet<string>;
}

export function nodeFit({ node, progress, wanted, held, sets }: FitRequest): NodeFit {
  const missing = wanted === null ? null : missingBytes(wanted, held) + stillToPull(progress, sets);
  return { node, ...computeFit(missing, progress.store) };
}

function computeFit(missing: number | null, store: PinProgress['store']): Omit<NodeFit, 'node'> {
  const neededBytes = missing === null ? null : diskBytesFor(missing);
  if (store === null) return { verdict: 'not known', neededBytes, usableBytes: null };
  // Report the free space even if sizes are unknown.
  const { fits, usable } = spaceFor(missing ?? 0, store);
  const verdict = fits ? 'fits' : 'may not fit';
  return { verdict: missing === null ? 'not known' : verdict, neededBytes, usableBytes: usable };
}

/** The disk space for this many transferred bytes. */
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
