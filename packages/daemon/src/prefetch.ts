// Downloads the images of an update ahead of its drain: a node is not empty while it downloads. Whether they fit is known before.
import { amountOf, formatBytes, type SizedImage, spaceFor } from '@slipway/fleet';
import type { Log } from '@slipway/kube';
import { DaemonError } from './errors.ts';
import type { ImageStore } from './host/container-runtime.ts';
import type { Host } from './host/host.ts';
import { openSizeSource } from './pinning/sizes.ts';

export interface PrefetchParts {
  readonly host: Pick<Host, 'os' | 'files' | 'containers'>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** For people. */
  readonly onProgress: (text: string) => Promise<void>;
}

/** A registry that does not answer holds no update up: what pulls the image may know another way. */
const SIZES_MS = 20_000;

/** Rejects with a DaemonError; SLW_DAEMON_SPACE, and nothing is downloaded, where they would not fit. */
export async function prefetch(images: readonly string[], parts: PrefetchParts): Promise<void> {
  const { host, log, signal, onProgress } = parts;
  const missing = await host.os.missing(images);
  if (missing.length === 0) return;
  const sizes = await learnSizes(missing, parts);
  expectSpace(missing, sizes, await host.os.store());
  for (const [index, image] of missing.entries()) {
    await onProgress(progressText(missing, sizes, index));
    await host.os.prefetch([image], (progress) => log.info({ progress }, 'downloading'), signal);
  }
}

type Sizes = ReadonlyMap<string, SizedImage>;

/** Of those that can be had. */
async function learnSizes(images: readonly string[], { host, log, signal }: PrefetchParts): Promise<Sizes> {
  const source = openSizeSource(host);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(SIZES_MS)]);
  const sizes = new Map<string, SizedImage>();
  try {
    for (const image of images) sizes.set(image, await source.sizeOf(image, patience));
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, 'how large the images of an update are is not known: they are downloaded all the same');
  } finally {
    await source.rest();
  }
  return sizes;
}

function expectSpace(images: readonly string[], sizes: Sizes, store: ImageStore): void {
  const { total } = amountOf(sizes.values(), []);
  const { fits, needed, usable } = spaceFor(total, { free: store.freeBytes, size: store.sizeBytes });
  if (fits) return;
  throw new DaemonError(
    'SLW_DAEMON_SPACE',
    `The update needs ${images.join(' and ')}, which take ${formatBytes(needed, 'up')} in ${store.path}, twice what is ` +
      `transferred; only ${formatBytes(usable)} of it can be used: ${formatBytes(store.freeBytes)} are free, and a tenth of the ` +
      'file system, at most 2 GiB, stays so. Nothing was downloaded, and the node is not drained. Free space there, or let the ' +
      'node have another target',
  );
}

/** `done`: how many of the images are there. */
function progressText(images: readonly string[], sizes: Sizes, done: number): string {
  const counted = `${done} of ${images.length} images`;
  const of = (some: readonly string[]): SizedImage[] => some.flatMap((image) => sizes.get(image) ?? []);
  if (sizes.size < images.length) return counted;
  const bytes = amountOf(of(images), of(images.slice(0, done)));
  return `${counted}, ${formatBytes(bytes.done)} of ${formatBytes(bytes.total, 'up')}`;
}
