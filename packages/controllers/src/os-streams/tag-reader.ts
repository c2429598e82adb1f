// What the tags of sources stand for. Only a cache, so a restart may lose it.
import { digestSources, listTagged, replaceTags, type StreamSources } from '@slipway/fleet/stream-discovery';
import { DEFAULT_TAG_INTERVAL_MS } from './options.ts';

export interface TagReader {
  /** Milliseconds until the registries must be asked again; null: nothing is specified by tag. */
  waitFor(named: StreamSources, now: number): number | null;
  /**
   * The sources by digest: asks the registries if it is time. `ask` returns what each tag stands for. For a tag that is
   * missing, its last answer holds; without one, it stays a tag.
   */
  read(named: StreamSources, now: number, ask: () => Promise<ReadonlyMap<string, string>>): Promise<StreamSources>;
}

/** A registry that fails is asked again after this time, or after the interval if that is shorter. */
const RETRY_MS = 60_000;

export function createTagReader(intervalMs = DEFAULT_TAG_INTERVAL_MS): TagReader {
  let last: { readonly named: string; readonly byTag: ReadonlyMap<string, string>; readonly askAt: number } | undefined;
  const findLast = (named: StreamSources) => (last?.named === digestSources(named, '') ? last : undefined);
  const waitFor: TagReader['waitFor'] = (named, now) =>
    listTagged(named).length === 0 ? null : Math.max(0, (findLast(named)?.askAt ?? now) - now);
  return {
    waitFor,
    async read(named, now, ask) {
      const before = findLast(named)?.byTag ?? new Map<string, string>();
      if (waitFor(named, now) !== 0) return replaceTags(named, before);
      const found = await ask();
      const byTag = new Map([...before, ...found]);
      const isWhole = listTagged(named).every((tag) => found.has(tag));
      const waitMs = isWhole ? intervalMs : Math.min(intervalMs, RETRY_MS);
      last = { named: digestSources(named, ''), byTag, askAt: now + waitMs };
      return replaceTags(named, byTag);
    },
  };
}
