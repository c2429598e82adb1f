// How fast bytes come. They are counted when an image is there, so the rate is that of the last minute or so.

export interface Sample {
  readonly at: number;
  readonly bytes: number;
}

const WINDOW_MS = 60_000;
/** Before that it says nothing. */
const SHORTEST_MS = 2000;

/** What is needed of the samples so far, and the new one. */
export function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1);
  // An image is gone, or others are counted now.
  if (last !== undefined && sample.bytes < last.bytes) return [sample];
  if (last?.bytes === sample.bytes) return samples;
  const young = samples.findIndex(({ at }) => at >= sample.at - WINDOW_MS);
  const from = young === -1 ? samples.length - 1 : Math.max(0, young - 1);
  return [...samples.slice(Math.max(0, from)), sample];
}

/** Bytes a second; null: it cannot be told. */
export function rateOf(samples: readonly Sample[], now: number): number | null {
  const since = now - WINDOW_MS;
  const first = samples.findLast(({ at }) => at <= since) ?? samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return null;
  const ms = now - Math.max(first.at, since);
  return ms < SHORTEST_MS || last.bytes === first.bytes ? null : (last.bytes - first.bytes) / (ms / 1000);
}
