// What a node says of its pinned images at one moment.
import { amountOf, type PinProgress, type SetProgress } from '@slipway/fleet';
import type { Space } from '../host/file-system.ts';
import type { KnownSizes } from './image-sizes.ts';
import { describeProblems, type PinProblem, problemOfSet } from './pin-problem.ts';
import { isComplete } from './pins.ts';
import type { WantedSet } from './wanted-set.ts';

export interface SetStanding {
  readonly name: string;
  readonly desiredGeneration: number;
  /** That whose images are pinned; null: none of this set. */
  readonly currentGeneration: number | null;
  /** Why the desired one failed; null: it did not. */
  readonly failure: string | null;
}

export interface PinSnapshot {
  readonly sets: readonly SetStanding[];
  readonly progress: PinProgress;
  /** Not all that is wanted is there and pinned. */
  readonly isWorking: boolean;
  /** For people; '' for nothing. */
  readonly problem: string;
  /** The same problems have the same one. */
  readonly problemKey: string;
}

export interface SnapshotInput {
  readonly wanted: readonly WantedSet[];
  /** Sets that are assigned and cannot be read. */
  readonly unknown: ReadonlySet<string>;
  readonly pinned: readonly WantedSet[];
  readonly present: ReadonlySet<string>;
  readonly sizes: KnownSizes;
  readonly problems: readonly PinProblem[];
  readonly bytesPerSecond: number | null;
  readonly waitsFor: string;
  readonly lastError: string;
  readonly store: PinProgress['store'];
}

export function snapshotOf(input: SnapshotInput): PinSnapshot {
  const { wanted, unknown, pinned, present, problems } = input;
  const isDone = (set: WantedSet): boolean => isComplete(set, present) && isPinned(set, pinned);
  const isWorking = unknown.size > 0 || !wanted.every(isDone);
  return {
    sets: wanted.map((set) => ({
      name: set.name,
      desiredGeneration: set.generation,
      currentGeneration: pinned.find(({ name, uid }) => name === set.name && uid === set.uid)?.generation ?? null,
      failure: problemOfSet(problems, set.name),
    })),
    progress: progressOf(input, isWorking),
    isWorking,
    problem: describeProblems(problems),
    problemKey: problems.map(({ key }) => key).join('\n'),
  };
}

/** Of a node that holds nothing and was never asked to: how much room it has. */
export const emptySnapshot = ({ freeBytes, sizeBytes }: Space): PinSnapshot => ({
  sets: [],
  progress: {
    sets: [],
    bytes: null,
    bytesPerSecond: null,
    secondsLeft: null,
    waitsFor: '',
    lastError: '',
    store: { free: freeBytes, size: sizeBytes },
  },
  isWorking: false,
  problem: '',
  problemKey: '',
});

const isPinned = (set: WantedSet, pinned: readonly WantedSet[]): boolean =>
  pinned.some(({ name, uid, generation }) => name === set.name && uid === set.uid && generation === set.generation);

function progressOf(input: SnapshotInput, isWorking: boolean): PinProgress {
  const { wanted, present, sizes, bytesPerSecond, waitsFor, lastError, store } = input;
  const here = [...present].flatMap((image) => sizes.get(image) ?? []);
  const bytesOf = (images: Iterable<string>): PinProgress['bytes'] => {
    const known = [...images].flatMap((image) => sizes.get(image) ?? []);
    return known.length === 0 ? null : amountOf(known, here);
  };
  const bytes = bytesOf(new Set(wanted.flatMap(({ images }) => images)));
  return {
    sets: wanted.map((set) => setProgressOf(set, present, bytesOf(set.images))),
    bytes,
    bytesPerSecond: isWorking ? bytesPerSecond : null,
    secondsLeft: isWorking && bytes !== null ? secondsLeft(bytes, bytesPerSecond) : null,
    waitsFor,
    lastError,
    store,
  };
}

const setProgressOf = (
  { name, images }: WantedSet,
  present: ReadonlySet<string>,
  bytes: PinProgress['bytes'],
): SetProgress => ({
  name,
  images: { done: images.filter((image) => present.has(image)).length, total: images.length },
  bytes,
});

const secondsLeft = ({ done, total }: { done: number; total: number }, rate: number | null): number | null =>
  rate === null || rate <= 0 ? null : Math.ceil((total - done) / rate);
