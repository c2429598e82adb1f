// What is decided about pinned images, from what is known at one moment: which sets are pinned, what is pulled next, and whether it
// fits on the disk.
import { createHash } from 'node:crypto';
import type { Node } from '@slipway/api';
import { count, formatBytes } from '@slipway/base/text';
import { computePullAmount, type SizedImage, spaceFor } from '@slipway/fleet';
import type { ImageStore } from '../host/container-runtime.ts';
import type { Problem } from '../problem.ts';
import type { DesiredSet } from './assigned-sets.ts';
import { type Attempts, isFailed, findEarliest } from './retry.ts';
import type { KnownSizes } from './sizes.ts';

// Which sets are pinned next. Nothing of a set is pinned before all of it is there, and what was pinned stays until then, so that
// space can be freed at any time by taking a set away, and no image that is needed is given up for one that is not there yet.

/** The sets of a node at one moment. */
export interface SetsOnNode {
  readonly wanted: readonly DesiredSet[];
  /** Sets that are wanted, but cannot be read now: what is pinned of them stays. */
  readonly unknown: ReadonlySet<string>;
  /** By name, of whatever generation. */
  readonly pinned: readonly DesiredSet[];
  /** Images. */
  readonly present: ReadonlySet<string>;
}

export interface PinsInput extends SetsOnNode {
  /** The node is Ready and has no disk pressure. If not, pins can only become fewer. */
  readonly isWell: boolean;
}

/** By name. */
export function decidePins({ wanted, unknown, pinned, present, isWell }: PinsInput): DesiredSet[] {
  const before = new Map(pinned.map((set) => [set.name, set]));
  const protectedNow = new Set(pinned.flatMap(({ images }) => images));
  const next = wanted.flatMap((set) => {
    const mayChange = isWell || set.images.every((image) => protectedNow.has(image));
    if (mayChange && isComplete(set, present)) return [set];
    return before.get(set.name) ?? [];
  });
  const held = pinned.filter(({ name }) => unknown.has(name));
  return [...next, ...held].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export const isComplete = ({ images }: DesiredSet, present: ReadonlySet<string>): boolean =>
  images.every((image) => present.has(image));

/** Whether the same images are pinned for the same sets. */
export function isSamePins(a: readonly DesiredSet[], b: readonly DesiredSet[]): boolean {
  return JSON.stringify(a.map(shape)) === JSON.stringify(b.map(shape));
}

const shape = ({ name, uid, generation, images }: DesiredSet): unknown => [name, uid, generation, images];

// What is done next about the images that are not there: whose sizes are asked for, which are pulled, or what is waited for.

export interface PullPlanInput {
  readonly wanted: readonly DesiredSet[];
  readonly present: ReadonlySet<string>;
  /** By image: those that are known. */
  readonly sizes: KnownSizes;
  readonly attempts: ReadonlyMap<string, Attempts>;
  readonly node: NodeHealth;
  readonly mayPull: boolean;
  /** Not before this moment: machines do not all begin at once. */
  readonly startsAt: number;
  readonly now: number;
}

export interface PullPlan {
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

const EMPTY_PLAN: PullPlan = { learn: [], pull: [], stop: false, waitsFor: '', wakeAt: null };

export function planPulls(input: PullPlanInput): PullPlan {
  const { sizes, attempts, startsAt, now } = input;
  const missing = listMissingImages(input.wanted, input.present);
  if (missing.length === 0) return EMPTY_PLAN;
  const waiting = planWait(input);
  if (waiting !== null) return waiting;
  if (now < startsAt) return { ...EMPTY_PLAN, wakeAt: startsAt };

  const isDue = (image: string): boolean => (attempts.get(image)?.notBefore ?? 0) <= now;
  const unsized = missing.filter((image) => !sizes.has(image));
  // One that cannot be sized holds the others up until it counts as failed: what all of them need has to fit.
  const isHeldUp = unsized.some((image) => !hasFailed(attempts.get(image)));
  const pull = isHeldUp ? [] : missing.filter((image) => sizes.has(image) && isDue(image));
  const waits = unsized.filter((image) => attempts.has(image)).length;
  return {
    ...EMPTY_PLAN,
    learn: unsized.filter(isDue),
    pull,
    waitsFor: isHeldUp && waits > 0 ? `the registry to say how large ${count(waits, 'image')} will be` : '',
    wakeAt: findEarliest(missing.flatMap((image) => attempts.get(image)?.notBefore ?? []).filter((at) => at > now)),
  };
}

function planWait({ node, mayPull }: PullPlanInput): PullPlan | null {
  // The kubelet is deleting images to free space: every byte that still comes works against it.
  if (node.hasDiskPressure) return { ...EMPTY_PLAN, stop: true, waitsFor: 'the disk pressure of the node to end' };
  if (!node.isReady) return { ...EMPTY_PLAN, waitsFor: 'the node to be Ready' };
  if (!mayPull) return { ...EMPTY_PLAN, waitsFor: 'its turn: the pool lets only so many machines pull at once' };
  return null;
}

const hasFailed = (attempts: Attempts | undefined): boolean => attempts !== undefined && isFailed(attempts);

/** In the order of the sets, each once. */
export function listMissingImages(wanted: readonly DesiredSet[], present: ReadonlySet<string>): string[] {
  return [...new Set(wanted.flatMap(({ images }) => images))].filter((image) => !present.has(image));
}

/** What of a Node decides whether images are pulled to it. */
export interface NodeHealth {
  readonly isReady: boolean;
  readonly hasDiskPressure: boolean;
}

/** A node that says nothing of it is not Ready, as for the scheduler. */
export function readNodeHealth(node: Pick<Node, 'status'> | undefined): NodeHealth {
  const conditions = node?.status?.conditions ?? [];
  const isTrue = (type: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === 'True');
  return { isReady: isTrue('Ready'), hasDiskPressure: isTrue('DiskPressure') };
}

export const isHealthy = ({ isReady, hasDiskPressure }: NodeHealth): boolean => isReady && !hasDiskPressure;

/** Machines hear of a set at the same moment: each begins a little later than the others, and always by the same time. */
export function computeStartDelayMs(nodeName: string, maxMs: number): number {
  const share = createHash('sha256').update(nodeName).digest().readUInt32BE() / 2 ** 32;
  return Math.floor(share * maxMs);
}

// Whether all that is still missing fits on the disk, before any of it is pulled.

export interface SpaceInput {
  readonly missing: readonly string[];
  readonly present: Iterable<string>;
  readonly sizes: KnownSizes;
  readonly store: ImageStore;
}

/** Null: it fits. Images whose size is not known count for nothing: they are not pulled. */
export function findSpaceProblem({ missing, present, sizes, store }: SpaceInput): Problem | null {
  const known = (images: Iterable<string>): SizedImage[] => [...images].flatMap((image) => sizes.get(image) ?? []);
  const { done, total } = computePullAmount(known(missing), known(present));
  const { fits, needed, usable } = spaceFor(total - done, { free: store.freeBytes, size: store.sizeBytes });
  if (fits) return null;
  return {
    code: 'SLW_PINNING_WOULD_NOT_FIT',
    message:
      `what is still missing, ${count(missing.length, 'image')}, needs ${formatBytes(needed, 'up')} in ${store.path}, twice what is ` +
      `transferred, and only ${formatBytes(usable)} of it can be used: ${formatBytes(store.freeBytes)} are free, and a tenth of the ` +
      'file system, at most 2 GiB, stays so. Nothing is pulled. Free space there, make the file system larger, or take images ' +
      'or sets away',
  };
}
