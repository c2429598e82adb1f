// Which rendered configs are marked as in use, and which have had their time.

export interface RenderedConfigFacts {
  name: string;
  createdAt: number;
  isMarked: boolean;
  isReferenced: boolean;
}

export interface Retention {
  mark: string[];
  unmark: string[];
  remove: string[];
  /** When one that is kept only for its youth may go; undefined where none is. */
  lookAgainAt: number | undefined;
}

/** A config is made before anything points at it. */
export const youthMs = 60_000;

/** Keeps the newest `keep` of a pool, every one that something refers to, and those made a moment ago. */
export function retain(configs: readonly RenderedConfigFacts[], keep: number, now: number): Retention {
  const newestFirst = [...configs].sort((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? -1 : 1));
  const spare = newestFirst.slice(keep).filter(({ isReferenced }) => !isReferenced);
  const remove = new Set(spare.filter(({ createdAt }) => createdAt + youthMs <= now).map(({ name }) => name));
  const names = (isWanted: (config: RenderedConfigFacts) => boolean) =>
    newestFirst.filter(isWanted).map(({ name }) => name);
  return {
    mark: names(({ isReferenced, isMarked }) => isReferenced && !isMarked),
    unmark: names(
      ({ name, createdAt, isReferenced, isMarked }) =>
        !isReferenced && isMarked && !remove.has(name) && createdAt + youthMs <= now,
    ),
    remove: [...remove],
    lookAgainAt: nextEndOfYouth(configs, now),
  };
}

function nextEndOfYouth(configs: readonly RenderedConfigFacts[], now: number): number | undefined {
  const ends = configs
    .filter(({ isReferenced, createdAt }) => !isReferenced && createdAt + youthMs > now)
    .map(({ createdAt }) => createdAt + youthMs);
  return ends.length === 0 ? undefined : Math.min(...ends);
}
