// The MachineConfigs that a rendered config was merged from, from its annotation, and what changed among them.
import { annotationCodec, array, number, object, string } from '@slipway/base/codec';
import { MAX_ANNOTATION } from '../problems.ts';

export interface RenderedFrom {
  readonly name: string;
  readonly generation: number;
  /** Of its spec. */
  readonly digest: string;
}

export interface SourceChange {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
}

/** Null: the annotation is missing or invalid. */
export const { decode: readRenderedFrom } = annotationCodec<RenderedFrom[], null, null>({
  decoder: array(object({ name: string(), generation: number(), digest: string() })),
  maxChars: MAX_ANNOTATION,
  missing: null,
  unreadable: null,
});

/** By name. */
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

// Which rendered configs are marked as in use, and which are removed.

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
  /** When a config that is retained only because it is new may be removed; undefined: there is none. */
  lookAgainAt: number | undefined;
}

/** A config is created before anything refers to it. */
export const YOUTH_MS = 60_000;

/** Retains the newest `keep` of a pool, every one that is referenced, and new ones. */
export function retain(configs: readonly RenderedConfigFacts[], keep: number, now: number): Retention {
  const newestFirst = [...configs].sort((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? -1 : 1));
  const spare = newestFirst.slice(keep).filter(({ isReferenced }) => !isReferenced);
  const remove = new Set(spare.filter(({ createdAt }) => createdAt + YOUTH_MS <= now).map(({ name }) => name));
  const names = (matches: (config: RenderedConfigFacts) => boolean) =>
    newestFirst.filter(matches).map(({ name }) => name);
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
