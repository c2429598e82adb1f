// Whether all that is still missing fits on the disk, before any of it is pulled.
import { amountOf, formatBytes, type SizedImage, spaceFor } from '@slipway/fleet';
import type { KnownSizes } from './image-sizes.ts';
import type { ImageStore } from '../host/container-runtime.ts';
import type { Problem } from '../problem.ts';
import { imageCount } from './next-work.ts';

export interface SpaceInput {
  readonly missing: readonly string[];
  readonly present: Iterable<string>;
  readonly sizes: KnownSizes;
  readonly store: ImageStore;
}

/** Null: it fits. Images whose size is not known count for nothing: they are not pulled. */
export function whyItWouldNotFit({ missing, present, sizes, store }: SpaceInput): Problem | null {
  const known = (images: Iterable<string>): SizedImage[] => [...images].flatMap((image) => sizes.get(image) ?? []);
  const { done, total } = amountOf(known(missing), known(present));
  const { fits, needed, usable } = spaceFor(total - done, { free: store.freeBytes, size: store.sizeBytes });
  if (fits) return null;
  return {
    code: 'SLW_PINNING_WOULD_NOT_FIT',
    message:
      `what is still missing, ${imageCount(missing.length)}, needs ${formatBytes(needed, 'up')} in ${store.path}, twice what is ` +
      `transferred, and only ${formatBytes(usable)} of it can be used: ${formatBytes(store.freeBytes)} are free, and a tenth of the ` +
      'file system, at most 2 GiB, stays so. Nothing is pulled. Free space there, make the file system larger, or take images ' +
      'or sets away',
  };
}
