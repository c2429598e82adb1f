// Which images are on the machine: what the runtime said when it was last asked, and what has come since.
import type { ImageStore, RuntimeImage } from '../host/container-runtime.ts';
import type { Host } from '../host/host.ts';

export interface LocalImages {
  present(): ReadonlySet<string>;
  /** As the runtime said; null: it was never asked. */
  seen(): readonly RuntimeImage[] | null;
  /** The runtime was asked after the last image came, and within this time. */
  isFresh(withinMs: number): boolean;
  nextLookAt(): number;
  look(signal: AbortSignal): Promise<void>;
  add(image: string): void;
  store(): ImageStore | null;
  measure(signal: AbortSignal): Promise<ImageStore>;
  /** It is time to, though nobody needs it for a decision. */
  isMeasureDue(): boolean;
}

/** An image that somebody removes is missed after that. */
export const CHECK_EVERY_MS = 60_000;
/** A runtime counts what its images use when it is asked, which takes its time. */
export const MEASURE_EVERY_MS = 600_000;

export function createLocalImages(containers: Host['containers'], now: () => number): LocalImages {
  let present = new Set<string>();
  /** Since the last look began. */
  let came: string[] = [];
  let observed: readonly RuntimeImage[] | null = null;
  let checkedAt = -Infinity;
  let isBehind = true;
  let store: ImageStore | null = null;
  let measuredAt = -Infinity;

  return {
    present: () => present,
    seen: () => observed,
    isFresh: (withinMs) => !isBehind && now() - checkedAt < withinMs,
    nextLookAt: () => checkedAt + CHECK_EVERY_MS,
    async look(signal) {
      came = [];
      observed = await containers.images(signal);
      // What comes while the runtime is asked may be missing in its answer.
      present = new Set([...observed.flatMap(({ digests }) => digests), ...came]);
      checkedAt = now();
      isBehind = came.length > 0;
    },
    add(image) {
      present.add(image);
      came.push(image);
      isBehind = true;
    },
    store: () => store,
    async measure(signal) {
      store = await containers.store(signal);
      measuredAt = now();
      return store;
    },
    isMeasureDue: () => now() - measuredAt >= MEASURE_EVERY_MS,
  };
}
