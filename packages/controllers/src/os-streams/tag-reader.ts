// What the tags of sources stand for. Only a cache, so a restart may lose it.
import { digestSources, listTagged, type StreamSources } from '@slipway/fleet/stream-discovery';
import { DEFAULT_TAG_INTERVAL_MS } from './options.ts';

export interface TagReader {
  /** Milliseconds until the registries must be asked again; null: nothing is specified by tag. */
  waitFor(named: StreamSources, now: number): number | null;
  /**
   * The sources by digest: asks the registries if it is time. If one fails, `ask` returns null and its last answer holds;
   * without one, the sources stay unchanged.
   */
  read(named: StreamSources, now: number, ask: () => Promise<StreamSources | null>): Promise<StreamSources>;
}

/** A registry that fails is asked again after this time, or after the interval if that is shorter. */
const RETRY_MS = 60_000;

export function createTagReader(intervalMs = DEFAULT_TAG_INTERVAL_MS): TagReader {
  let last: { readonly named: string; readonly sources: StreamSources; readonly askAt: number } | undefined;
  const findLast = (named: StreamSources) => (last?.named === digestSources(named, '') ? last : undefined);
  const waitFor: TagReader['waitFor'] = (named, now) =>
    listTagged(named).length === 0 ? null : Math.max(0, (findLast(named)?.askAt ?? now) - now);
  return {
    waitFor,
    async read(named, now, ask) {
      const before = findLast(named)?.sources ?? named;
      if (waitFor(named, now) !== 0) return before;
      const found = await ask();
      const sources = found ?? before;
      const waitMs = found === null ? Math.min(intervalMs, RETRY_MS) : intervalMs;
      last = { named: digestSources(named, ''), sources, askAt: now + waitMs };
      return sources;
    },
  };
}
