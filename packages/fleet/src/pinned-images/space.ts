// What images take: bytes to transfer, and whether they fit on the disk.
import type { Amount } from './pin-progress.ts';

export interface SizedLayer {
  readonly digest: string;
  /** As it is transferred. */
  readonly size: number;
}

export interface SizedImage {
  readonly layers: readonly SizedLayer[];
}

/** The layers of all these images, what they share counted once. */
export function bytesOf(images: Iterable<SizedImage>): number {
  let sum = 0;
  for (const size of layersOf(images).values()) sum += size;
  return sum;
}

/** How much of the wanted images is there, when these images are: a layer is stored once, whoever brought it. */
export function amountOf(wanted: Iterable<SizedImage>, present: Iterable<SizedImage>): Amount {
  const there = layersOf(present);
  let done = 0;
  let total = 0;
  for (const [digest, size] of layersOf(wanted)) {
    total += size;
    if (there.has(digest)) done += size;
  }
  return { done, total };
}

function layersOf(images: Iterable<SizedImage>): Map<string, number> {
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
