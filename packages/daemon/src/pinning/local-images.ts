// The images on the machine: the runtime's last answer, plus those pulled since.
import type { ImageStore, RuntimeImage } from '../host/container-runtime.ts';
import type { Host } from '../host/host.ts';

export interface LocalImages {
  present(): ReadonlySet<string>;
  /** The runtime's last answer. Null: it was never queried. */
  seen(): readonly RuntimeImage[] | null;
  /** The runtime was queried after the last image arrived, and within this time. */
  isFresh(withinMs: number): boolean;
  nextLookAt(): number;
  look(signal: AbortSignal): Promise<void>;
  add(image: string): void;
  store(): ImageStore | null;
  measure(signal: AbortSignal): Promise<ImageStore>;
  /** The regular measurement is due, although no decision needs it. */
  isMeasureDue(): boolean;
}

/** A removed image is noticed after this time at the latest. */
export const CHECK_EVERY_MS = 60_000;
/** The runtime computes the disk usage of its images on each query, which is slow. */
export const MEASURE_EVERY_MS = 600_000;

export function createLocalImages(containers: Host['containers'], now: () => number): LocalImages {
  let present = new Set<string>();
  /** Since the start of the last query. */
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
      // Images that arrive during the query may be missing in the answer.
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
