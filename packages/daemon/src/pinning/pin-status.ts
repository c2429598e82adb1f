// The part of a MachineConfigNode's status that is about pinned images.
import type { MachineConfigNode } from '@slipway/api';
import { formatPinProgress, parsePinProgress, type PinProgress } from '@slipway/fleet';
import { type Condition, setCondition } from '@slipway/kube';
import type { PinSnapshot, SetStanding } from './pin-snapshot.ts';

type Entry = NonNullable<NonNullable<MachineConfigNode['status']>['pinnedImageSets']>[number];

export interface PinStatus {
  readonly conditions: readonly Condition[];
  /** Null: there are none, and the field goes. */
  readonly pinnedImageSets: readonly Entry[] | null;
}

const PROGRESSING = 'PinnedImageSetsProgressing';
const DEGRADED = 'PinnedImageSetsDegraded';

/**
 * The status to write, and what has to be written before it: the API refuses a generation that goes back, as that of a set that
 * was deleted and made again does, unless the entry was gone in between. `snapshot` null: nothing is asked of the node.
 */
export function pinStatusOf(
  { status }: Pick<MachineConfigNode, 'status'>,
  snapshot: PinSnapshot | null,
  now: Date,
): { readonly first: PinStatus | null; readonly last: PinStatus } {
  const conditions = conditionsOf(status?.conditions, snapshot, now);
  const old = new Map((status?.pinnedImageSets ?? []).map((entry) => [entry.name, entry]));
  const next = (snapshot?.sets ?? []).map((set) => entryOf(set));
  const stay = next.filter((entry) => !goesBack(old.get(entry.name), entry));
  const last = { conditions, pinnedImageSets: orNull(next) };
  return { first: stay.length === next.length ? null : { conditions, pinnedImageSets: orNull(stay) }, last };
}

const orNull = (entries: readonly Entry[]): readonly Entry[] | null => (entries.length === 0 ? null : entries);

function entryOf({ name, desiredGeneration, currentGeneration, failure }: SetStanding): Entry {
  return {
    name,
    desiredGeneration,
    ...(currentGeneration !== null && { currentGeneration }),
    ...(failure !== null && { lastFailedGeneration: desiredGeneration, lastFailedGenerationError: failure }),
  };
}

const GENERATIONS = ['desiredGeneration', 'currentGeneration', 'lastFailedGeneration'] as const;

const goesBack = (old: Entry | undefined, next: Entry): boolean =>
  GENERATIONS.some((field) => (next[field] ?? Infinity) < (old?.[field] ?? 0));

function conditionsOf(
  before: readonly Condition[] | undefined,
  snapshot: PinSnapshot | null,
  now: Date,
): readonly Condition[] {
  const { isWorking = false, problem = '', progress } = snapshot ?? {};
  const isDegraded = problem !== '';
  const progressing = setCondition(
    before,
    {
      type: PROGRESSING,
      status: isWorking ? 'True' : 'False',
      reason: isWorking ? 'ImagePrefetch' : 'AsExpected',
      message: progress === undefined ? '' : formatPinProgress(withStoreOf(progress, before)),
    },
    now,
  );
  return setCondition(
    progressing,
    {
      type: DEGRADED,
      status: isDegraded ? 'True' : 'False',
      reason: isDegraded ? 'PrefetchFailed' : 'AsExpected',
      message: problem,
    },
    now,
  );
}

/** Free space moves all the time: it is no news where it has hardly moved since it was last told. */
function withStoreOf(progress: PinProgress, before: readonly Condition[] | undefined): PinProgress {
  const said = before?.find(({ type }) => type === PROGRESSING)?.message ?? '';
  const store = parsePinProgress(said)?.store ?? null;
  return hasMoved(store, progress.store) ? progress : { ...progress, store };
}

const STORE_SHARE = 0.1;

/** The free space of the image store, by a tenth of all of it. What is not known has not moved. */
export function hasMoved(was: PinProgress['store'], is: PinProgress['store']): boolean {
  if (was === null || is === null) return was !== is && is !== null;
  return Math.abs(is.size - was.size) + Math.abs(is.free - was.free) >= is.size * STORE_SHARE;
}
