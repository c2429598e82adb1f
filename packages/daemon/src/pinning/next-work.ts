// What is done next about the images that are not there: whose sizes are asked for, which are pulled, or what is waited for.
import { type Attempts, isFailed, soonest } from './attempts.ts';
import type { KnownSizes } from './image-sizes.ts';
import type { NodeCondition } from './node-condition.ts';
import type { WantedSet } from './wanted-set.ts';

export interface WorkInput {
  readonly wanted: readonly WantedSet[];
  readonly present: ReadonlySet<string>;
  /** By image: those that are known. */
  readonly sizes: KnownSizes;
  readonly attempts: ReadonlyMap<string, Attempts>;
  readonly node: NodeCondition;
  readonly mayPull: boolean;
  /** Not before this moment: machines do not all begin at once. */
  readonly startsAt: number;
  readonly now: number;
}

export interface Work {
  /** In their order; those that are under way already are among them. */
  readonly learn: readonly string[];
  readonly pull: readonly string[];
  /** What is under way goes on, unless this says that it has to end. */
  readonly stop: boolean;
  /** For people; '' for nothing. */
  readonly waitsFor: string;
  /** When something more can be done without any news. Null: only news can change it. */
  readonly wakeAt: number | null;
}

const NOTHING: Work = { learn: [], pull: [], stop: false, waitsFor: '', wakeAt: null };

export function nextWork(input: WorkInput): Work {
  const { sizes, attempts, startsAt, now } = input;
  const missing = missingImages(input.wanted, input.present);
  if (missing.length === 0) return NOTHING;
  const waiting = whyNotNow(input);
  if (waiting !== null) return waiting;
  if (now < startsAt) return { ...NOTHING, wakeAt: startsAt };

  const isDue = (image: string): boolean => (attempts.get(image)?.notBefore ?? 0) <= now;
  const unsized = missing.filter((image) => !sizes.has(image));
  // One that cannot be sized holds the others up until it counts as failed: what all of them need has to fit.
  const isHeldUp = unsized.some((image) => !hasFailed(attempts.get(image)));
  const pull = isHeldUp ? [] : missing.filter((image) => sizes.has(image) && isDue(image));
  const waits = unsized.filter((image) => attempts.has(image)).length;
  return {
    ...NOTHING,
    learn: unsized.filter(isDue),
    pull,
    waitsFor: isHeldUp && waits > 0 ? `the registry to say how large ${imageCount(waits)} will be` : '',
    wakeAt: soonest(missing.flatMap((image) => attempts.get(image)?.notBefore ?? []).filter((at) => at > now)),
  };
}

/** In the order of the sets, each once. */
export function missingImages(wanted: readonly WantedSet[], present: ReadonlySet<string>): string[] {
  return [...new Set(wanted.flatMap(({ images }) => images))].filter((image) => !present.has(image));
}

function whyNotNow({ node, mayPull }: WorkInput): Work | null {
  // The kubelet is deleting images to free space: every byte that still comes works against it.
  if (node.hasDiskPressure) return { ...NOTHING, stop: true, waitsFor: 'the disk pressure of the node to end' };
  if (!node.isReady) return { ...NOTHING, waitsFor: 'the node to be Ready' };
  if (!mayPull) return { ...NOTHING, waitsFor: 'its turn: the pool lets only so many machines pull at once' };
  return null;
}

const hasFailed = (attempts: Attempts | undefined): boolean => attempts !== undefined && isFailed(attempts);

export const imageCount = (count: number): string => (count === 1 ? '1 image' : `${count} images`);
