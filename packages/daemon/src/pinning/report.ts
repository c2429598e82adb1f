// How a node reports its pinned images: progress, problems, and the status of its MachineConfigNode.
import type { MachineConfigNode } from '@slipway/api';
import { count, truncate } from '@slipway/base/text';
import {
  computePullAmount,
  formatPinProgress,
  NO_PIN_PROGRESS,
  parsePinProgress,
  type PinProgress,
  type SetProgress,
} from '@slipway/fleet';
import { type Condition, setCondition } from '@slipway/kube';
import type { Space } from '../host/file-system.ts';
import type { Problem } from '../problem.ts';
import { toClusterText } from '../report/snapshot.ts';
import type { DesiredSet } from './assigned-sets.ts';
import { isComplete, listMissingImages, type SetsOnNode } from './decisions.ts';
import { type Attempts, isFailed } from './retry.ts';
import type { KnownSizes } from './sizes.ts';

// The state at one moment.

export interface SetState {
  readonly name: string;
  readonly desiredGeneration: number;
  /** The generation whose images are pinned. Null: none. */
  readonly currentGeneration: number | null;
  /** Why the desired generation failed. Null: it did not. */
  readonly failure: string | null;
}

export interface PinSnapshot {
  readonly sets: readonly SetState[];
  readonly progress: PinProgress;
  /** Not all desired images are present and pinned. */
  readonly isWorking: boolean;
  /** Human-readable. '' for none. */
  readonly problem: string;
  /** Equal for the same problems. */
  readonly problemKey: string;
}

export interface SnapshotInput extends SetsOnNode {
  readonly sizes: KnownSizes;
  readonly problems: readonly PinProblem[];
  readonly bytesPerSecond: number | null;
  readonly waitsFor: string;
  readonly lastError: string;
  readonly store: PinProgress['store'];
}

export function buildSnapshot(input: SnapshotInput): PinSnapshot {
  const { wanted, unknown, pinned, present, problems } = input;
  const isDone = (set: DesiredSet): boolean => isComplete(set, present) && isPinned(set, pinned);
  const isWorking = unknown.size > 0 || !wanted.every(isDone);
  return {
    sets: wanted.map((set) => ({
      name: set.name,
      desiredGeneration: set.generation,
      currentGeneration: pinned.find(({ name, uid }) => name === set.name && uid === set.uid)?.generation ?? null,
      failure: findSetProblem(problems, set.name),
    })),
    progress: computeProgress(input, isWorking),
    isWorking,
    problem: describeProblems(problems),
    problemKey: problems.map(({ key }) => key).join('\n'),
  };
}

export const NO_SETS: PinSnapshot = {
  sets: [],
  progress: NO_PIN_PROGRESS,
  isWorking: false,
  problem: '',
  problemKey: '',
};

/** For a node that was never assigned a set: reports only its free space. */
export const buildEmptySnapshot = ({ freeBytes, sizeBytes }: Space): PinSnapshot => ({
  ...NO_SETS,
  progress: { ...NO_PIN_PROGRESS, store: { free: freeBytes, size: sizeBytes } },
});

/** With a problem of the machine instead of those of its images. */
export const withProblem = (snapshot: PinSnapshot, problem: Problem): PinSnapshot => ({
  ...snapshot,
  problem: describeProblems([{ ...problem, key: problem.code, sets: [] }]),
  problemKey: problem.code,
});

const isPinned = (set: DesiredSet, pinned: readonly DesiredSet[]): boolean =>
  pinned.some(({ name, uid, generation }) => name === set.name && uid === set.uid && generation === set.generation);

function computeProgress(input: SnapshotInput, isWorking: boolean): PinProgress {
  const { wanted, present, sizes, bytesPerSecond, waitsFor, lastError, store } = input;
  const here = [...present].flatMap((image) => sizes.get(image) ?? []);
  const computeBytes = (images: Iterable<string>): PinProgress['bytes'] => {
    const known = [...images].flatMap((image) => sizes.get(image) ?? []);
    return known.length === 0 ? null : computePullAmount(known, here);
  };
  const bytes = computeBytes(new Set(wanted.flatMap(({ images }) => images)));
  return {
    sets: wanted.map((set) => computeSetProgress(set, present, computeBytes(set.images))),
    bytes,
    bytesPerSecond: isWorking ? bytesPerSecond : null,
    secondsLeft: isWorking && bytes !== null ? computeSecondsLeft(bytes, bytesPerSecond) : null,
    waitsFor,
    lastError,
    store,
  };
}

const computeSetProgress = (
  { name, images }: DesiredSet,
  present: ReadonlySet<string>,
  bytes: PinProgress['bytes'],
): SetProgress => ({
  name,
  images: { done: images.filter((image) => present.has(image)).length, total: images.length },
  bytes,
});

const computeSecondsLeft = ({ done, total }: { done: number; total: number }, rate: number | null): number | null =>
  rate === null || rate <= 0 ? null : Math.ceil((total - done) / rate);

// What prevents a node from pinning its images, human-readable: the set, the image, the error, the code and what to do.

export interface PinProblem extends Problem {
  /** Equal for the same problem, whatever numbers its message contains. */
  readonly key: string;
  /** The sets that it keeps incomplete. */
  readonly sets: readonly string[];
}

/** The problems of images that count as failed. */
export function listImageProblems(
  wanted: readonly DesiredSet[],
  present: ReadonlySet<string>,
  attempts: ReadonlyMap<string, Attempts>,
): PinProblem[] {
  return listMissingImages(wanted, present).flatMap((image) => {
    const tried = attempts.get(image);
    if (tried === undefined || !isFailed(tried)) return [];
    const sets = wanted.filter(({ images }) => images.includes(image)).map(({ name }) => name);
    return [toImageProblem(image, sets, tried.problem)];
  });
}

function toImageProblem(image: string, sets: readonly string[], { code, message }: Problem): PinProblem {
  const text = `${formatSetNames(sets)}, image ${image}: ${endSentence(message)} ${REMEDIATION}`;
  return { code, key: `${code} ${image}`, sets, message: text };
}

const MAX_NAMED_SETS = 3;

const formatSetNames = (sets: readonly string[]): string =>
  `PinnedImageSet ${sets.slice(0, MAX_NAMED_SETS).join(', ')}${sets.length > MAX_NAMED_SETS ? ' and others' : ''}`;

const REMEDIATION = 'The daemon retries every few minutes. If the image is wrong, remove it from the set';
const endSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** For a problem that affects all sets. */
export const toPinProblem = ({ code, message }: Problem, sets: readonly string[]): PinProblem => ({
  code,
  key: code,
  sets,
  message: `${formatSetNames(sets)}: ${message}`,
});

const MAX_REPORTED_PROBLEMS = 3;
const MAX_PROBLEM_CHARS = 1200;

/** One text of bounded length for all problems. '' for none. */
export function describeProblems(problems: readonly PinProblem[]): string {
  const listed = problems
    .slice(0, MAX_REPORTED_PROBLEMS)
    .map(({ code, message }) => truncate(toClusterText(`${code}: ${message}`), MAX_PROBLEM_CHARS));
  const rest = problems.length - listed.length;
  if (rest > 0) listed.push(`${count(rest, 'more image')} failed`);
  return listed.join('\n');
}

/** The first problem that affects the set. Null: none. */
export function findSetProblem(problems: readonly PinProblem[], set: string): string | null {
  const found = problems.find(({ sets }) => sets.includes(set));
  return found === undefined ? null : truncate(toClusterText(`${found.code}: ${found.message}`), MAX_PROBLEM_CHARS);
}

// The part of a MachineConfigNode's status for pinned images.

type SetStatusEntry = NonNullable<NonNullable<MachineConfigNode['status']>['pinnedImageSets']>[number];

export interface PinStatus {
  readonly conditions: readonly Condition[];
  /** Null: there are none, and the field is removed. */
  readonly pinnedImageSets: readonly SetStatusEntry[] | null;
}

const PROGRESSING = 'PinnedImageSetsProgressing';
const DEGRADED = 'PinnedImageSetsDegraded';

/**
 * The status to write, and what must be written before it: the API rejects a decreasing generation, as after a set was
 * deleted and recreated, unless the entry was removed in between. `snapshot` null: no sets are assigned to the node.
 */
export function computePinStatus(
  { status }: Pick<MachineConfigNode, 'status'>,
  snapshot: PinSnapshot | null,
  now: Date,
): { readonly first: PinStatus | null; readonly last: PinStatus } {
  const conditions = computeConditions(status?.conditions, snapshot, now);
  const old = new Map((status?.pinnedImageSets ?? []).map((entry) => [entry.name, entry]));
  const next = (snapshot?.sets ?? []).map((set) => toStatusEntry(set, old.get(set.name)));
  const stay = next.filter((entry) => !goesBack(old.get(entry.name), entry));
  const last = { conditions, pinnedImageSets: emptyToNull(next) };
  return { first: stay.length === next.length ? null : { conditions, pinnedImageSets: emptyToNull(stay) }, last };
}

const emptyToNull = (entries: readonly SetStatusEntry[]): readonly SetStatusEntry[] | null =>
  entries.length === 0 ? null : entries;

function toStatusEntry(set: SetState, old: SetStatusEntry | undefined): SetStatusEntry {
  const { name, desiredGeneration, currentGeneration } = set;
  return {
    name,
    desiredGeneration,
    ...(currentGeneration !== null && { currentGeneration }),
    ...computeLastFailure(set, old),
  };
}

type LastFailure = Pick<SetStatusEntry, 'lastFailedGeneration' | 'lastFailedGenerationError'>;

/** The API: the generation that failed last stays, and its error is an empty string once the images are pinned. */
function computeLastFailure(
  { desiredGeneration, currentGeneration, failure }: SetState,
  old: SetStatusEntry | undefined,
): LastFailure {
  if (failure !== null) return { lastFailedGeneration: desiredGeneration, lastFailedGenerationError: failure };
  const { lastFailedGeneration, lastFailedGenerationError: error = '' } = old ?? {};
  // A lower generation: the set was deleted and recreated.
  if (lastFailedGeneration === undefined || lastFailedGeneration > desiredGeneration) return {};
  const isPinned = currentGeneration === desiredGeneration;
  return { lastFailedGeneration, lastFailedGenerationError: isPinned ? '' : error };
}

const GENERATIONS = ['desiredGeneration', 'currentGeneration', 'lastFailedGeneration'] as const;

const goesBack = (old: SetStatusEntry | undefined, next: SetStatusEntry): boolean =>
  GENERATIONS.some((field) => (next[field] ?? Infinity) < (old?.[field] ?? 0));

function computeConditions(
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
      message: progress === undefined ? '' : formatPinProgress(withReportedStore(progress, before)),
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

/** Free space changes all the time: a small change since the last report is ignored. */
function withReportedStore(progress: PinProgress, before: readonly Condition[] | undefined): PinProgress {
  const lastMessage = before?.find(({ type }) => type === PROGRESSING)?.message ?? '';
  const store = parsePinProgress(lastMessage)?.store ?? null;
  return hasStoreMoved(store, progress.store) ? progress : { ...progress, store };
}

const STORE_SHARE = 0.1;

/** Whether free space changed by at least a tenth of the image store. Unknown counts as unchanged. */
export function hasStoreMoved(was: PinProgress['store'], is: PinProgress['store']): boolean {
  if (was === null || is === null) return was !== is && is !== null;
  return Math.abs(is.size - was.size) + Math.abs(is.free - was.free) >= is.size * STORE_SHARE;
}

// The rate of pulls. Bytes count when their image is complete, so the rate covers the last minute or so.

export interface RateSample {
  readonly at: number;
  readonly bytes: number;
}

const WINDOW_MS = 60_000;
/** A shorter sample means nothing. */
const MIN_SAMPLE_MS = 2000;

/** The samples that are still needed, with the new one. */
export function addSample(samples: readonly RateSample[], sample: RateSample): readonly RateSample[] {
  const last = samples.at(-1);
  // An image was removed, or the set of images changed.
  if (last !== undefined && sample.bytes < last.bytes) return [sample];
  if (last?.bytes === sample.bytes) return samples;
  const young = samples.findIndex(({ at }) => at >= sample.at - WINDOW_MS);
  const from = young === -1 ? samples.length - 1 : Math.max(0, young - 1);
  return [...samples.slice(Math.max(0, from)), sample];
}

/** Bytes per second. Null: unknown. */
export function computeRate(samples: readonly RateSample[], now: number): number | null {
  const since = now - WINDOW_MS;
  const first = samples.findLast(({ at }) => at <= since) ?? samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return null;
  const ms = now - Math.max(first.at, since);
  return ms < MIN_SAMPLE_MS || last.bytes === first.bytes ? null : (last.bytes - first.bytes) / (ms / 1000);
}
