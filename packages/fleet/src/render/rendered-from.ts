// The MachineConfigs that a rendered config was made from, as its annotation has them, and what changed among them.
import { annotationCodec, array, number, object, string } from '@slipway/base/codec';
import { MAX_ANNOTATION } from '../problems.ts';

export interface RenderedFrom {
  readonly name: string;
  readonly generation: number;
  /** Of its spec: differs where the spec does. */
  readonly digest: string;
}

export interface SourceChange {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
}

/** Null: the annotation is not there, or nobody can read it. */
export const { decode: readRenderedFrom } = annotationCodec<RenderedFrom[], null, null>({
  decoder: array(object({ name: string(), generation: number(), digest: string() })),
  maxChars: MAX_ANNOTATION,
  missing: null,
  unreadable: null,
});

/** In the order of their names. */
export function sourceChanges(before: readonly RenderedFrom[], after: readonly RenderedFrom[]): SourceChange[] {
  const old = new Map(before.map(({ name, digest }) => [name, digest]));
  const now = new Map(after.map(({ name, digest }) => [name, digest]));
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name): SourceChange[] => {
    if (!old.has(name)) return [{ name, change: 'added' }];
    if (!now.has(name)) return [{ name, change: 'removed' }];
    return old.get(name) === now.get(name) ? [] : [{ name, change: 'changed' }];
  });
}

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
export const YOUTH_MS = 60_000;

/** Keeps the newest `keep` of a pool, every one that something refers to, and those made a moment ago. */
export function retain(configs: readonly RenderedConfigFacts[], keep: number, now: number): Retention {
  const newestFirst = [...configs].sort((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? -1 : 1));
  const spare = newestFirst.slice(keep).filter(({ isReferenced }) => !isReferenced);
  const remove = new Set(spare.filter(({ createdAt }) => createdAt + YOUTH_MS <= now).map(({ name }) => name));
  const names = (isWanted: (config: RenderedConfigFacts) => boolean) =>
    newestFirst.filter(isWanted).map(({ name }) => name);
  return {
    mark: names(({ isReferenced, isMarked }) => isReferenced && !isMarked),
    unmark: names(
      ({ name, createdAt, isReferenced, isMarked }) =>
        !isReferenced && isMarked && !remove.has(name) && createdAt + YOUTH_MS <= now,
    ),
    remove: [...remove],
    lookAgainAt: nextEndOfYouth(configs, now),
  };
}

function nextEndOfYouth(configs: readonly RenderedConfigFacts[], now: number): number | undefined {
  const ends = configs
    .filter(({ isReferenced, createdAt }) => !isReferenced && createdAt + YOUTH_MS > now)
    .map(({ createdAt }) => createdAt + YOUTH_MS);
  return ends.length === 0 ? undefined : Math.min(...ends);
}
