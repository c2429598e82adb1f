// Guards the free space while images are pulled. A registry reports compressed sizes only, and a layer of 10 MB can
// become 50 GB. So all pulls are cancelled when the free space falls below the reserve.
import type { Clock } from '@slipway/base/clock';
import { reservedBytes } from '@slipway/fleet';
import type { Log } from '@slipway/kube';
import { DaemonError } from '../errors.ts';
import type { ImageStore } from '../host/container-runtime.ts';
import type { Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import { describeLowSpace, findSpaceProblem, type LearnedNeed } from './decisions.ts';
import type { LocalImages } from './local-images.ts';
import type { KnownSizes } from './sizes.ts';

export interface SpaceGuardOptions {
  readonly containers: Pick<Host['containers'], 'measure' | 'abandonPulls'>;
  readonly images: Pick<LocalImages, 'present' | 'store' | 'measure'>;
  readonly sizes: KnownSizes;
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly log: Log;
  /** The free space has fallen below the reserve: all pulls must be cancelled. */
  readonly onLowSpace: (problem: Problem) => void;
}

export interface SpaceGuard {
  /** Pulls the image if there is space for it, and watches the space until the end. */
  pull(image: string, signal: AbortSignal, act: () => Promise<void>): Promise<void>;
  /** Of pulls that were cancelled for lack of space. */
  learned(): LearnedNeed | null;
  forgetOthers(missing: ReadonlySet<string>): void;
  stop(): void;
}

/** Between two checks, a disk of 1 GB/s writes a twentieth of the largest reserve. A check takes 0.1 ms. */
const CHECK_MS = 100;
/** How long a runtime may take to unpack a layer of a cancelled pull. */
const LINGER_MS = 10 * 60_000;

export function createSpaceGuard({ containers, images, sizes, clock, log, onLowSpace }: SpaceGuardOptions): SpaceGuard {
  /** The images that are being pulled, with the free space at the start. */
  const pulling = new Map<string, number>();
  let learned: LearnedNeed | null = null;
  let cancelTimer: (() => void) | null = null;
  let lingersUntil = -Infinity;
  let isAbandoned = false;

  /** Right before its pull: since the check for all images together, something else may have used the space. */
  async function requireSpace(image: string): Promise<ImageStore> {
    const store = await measure();
    const problem = findSpaceProblem({ missing: [image], present: images.present(), sizes, store, learned });
    if (problem !== null) throw new DaemonError('SLW_PINNING_WOULD_NOT_FIT', problem.message);
    return store;
  }

  async function measure(): Promise<ImageStore> {
    const store = images.store();
    return store === null ? images.measure(new AbortController().signal) : containers.measure(store);
  }

  function schedule(): void {
    cancelTimer ??= clock.setTimer(CHECK_MS, () => {
      void check().finally(() => {
        cancelTimer = null;
        if (pulling.size > 0 || clock.now() < lingersUntil) schedule();
      });
    });
  }

  /** The runtime may still be unpacking a layer of the cancelled pull. */
  function linger(): void {
    lingersUntil = clock.now() + LINGER_MS;
    schedule();
  }

  async function check(): Promise<void> {
    try {
      const store = await measure();
      const action = decideSpaceAction(store, { isPulling: pulling.size > 0, isAbandoned });
      if (action === 'cancel') cancel(store);
      else if (action === 'abandon') await abandon(store);
      else isAbandoned &&= store.freeBytes < reservedBytes(store.sizeBytes);
    } catch (error) {
      log.warn({ err: error }, 'could not guard the free space for images');
    }
  }

  function cancel(store: ImageStore): void {
    const names = [...pulling.keys()];
    const bytes = Math.max(0, Math.max(...pulling.values()) - store.freeBytes);
    pulling.clear();
    learned = { images: names, bytes };
    const problem = describeLowSpace(learned, store);
    log.warn({ images: names, problem: problem.message }, 'cancelled all pulls for lack of space');
    onLowSpace(problem);
  }

  async function abandon({ freeBytes, path }: ImageStore): Promise<void> {
    isAbandoned = true;
    log.error(
      { freeBytes, path },
      'the free space for images continues to fall although their pulls were cancelled; restarting the container runtime',
    );
    await containers.abandonPulls();
  }

  return {
    async pull(image, signal, act) {
      pulling.set(image, (await requireSpace(image)).freeBytes);
      schedule();
      try {
        await act();
      } finally {
        pulling.delete(image);
        if (signal.aborted) linger();
      }
    },
    learned: () => learned,
    forgetOthers(missing) {
      if (!learned?.images.some((image) => missing.has(image))) learned = null;
    },
    stop() {
      cancelTimer?.();
      cancelTimer = null;
      lingersUntil = -Infinity;
    },
  };
}

export type SpaceAction = 'none' | 'cancel' | 'abandon';

export interface SpaceFacts {
  readonly isPulling: boolean;
  /** Pulls were abandoned since the space last fell below the reserve. Once is enough: something else uses the space. */
  readonly isAbandoned: boolean;
}

export function decideSpaceAction(
  { freeBytes, sizeBytes }: Pick<ImageStore, 'freeBytes' | 'sizeBytes'>,
  { isPulling, isAbandoned }: SpaceFacts,
): SpaceAction {
  const reserve = reservedBytes(sizeBytes);
  if (freeBytes >= reserve) return 'none';
  if (isPulling) return 'cancel';
  return freeBytes < reserve / 2 && !isAbandoned ? 'abandon' : 'none';
}
