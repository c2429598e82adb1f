// Decisions about pinned images: which sets are pinned, what is pulled next, and whether it fits on the disk.
import { createHash } from 'node:crypto';
import type { Node } from '@slipway/api';
import { count, formatBytes, listNames } from '@slipway/base/text';
import { computePullAmount, reservedBytes, type SizedImage, spaceFor } from '@slipway/fleet';
import type { ImageStore } from '../host/container-runtime.ts';
import type { Problem } from '../problem.ts';
import type { DesiredSet } from './assigned-sets.ts';
import { type Attempts, isFailed, findEarliest } from './retry.ts';
import type { KnownSizes } from './sizes.ts';

// Which sets are pinned next. A set is pinned only when all its images are present, and the previous pins stay until
// then. So removing a set frees space at any time, and no needed image is unpinned for one that is still missing.

export interface SetsOnNode {
  readonly wanted: readonly DesiredSet[];
  /** Desired sets that cannot be read now: their pins stay. */
  readonly unknown: ReadonlySet<string>;
  /** By name, in any generation. */
  readonly pinned: readonly DesiredSet[];
  /** Images. */
  readonly present: ReadonlySet<string>;
}

export interface PinsInput extends SetsOnNode {
  /** The node is Ready and has no disk pressure. Otherwise pins are only removed. */
  readonly isWell: boolean;
}

/** Sorted by name. */
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

/** Whether both pin the same images for the same sets. */
export function isSamePins(a: readonly DesiredSet[], b: readonly DesiredSet[]): boolean {
  return JSON.stringify(a.map(shape)) === JSON.stringify(b.map(shape));
}

const shape = ({ name, uid, generation, images }: DesiredSet): unknown => [name, uid, generation, images];

// The next step for missing images: which sizes to query, what to pull, or what to wait for.

export interface PullPlanInput {
  readonly wanted: readonly DesiredSet[];
  readonly present: ReadonlySet<string>;
  /** The known sizes by image. */
  readonly sizes: KnownSizes;
  readonly attempts: ReadonlyMap<string, Attempts>;
  readonly node: NodeHealth;
  readonly mayPull: boolean;
  /** Nothing is pulled earlier: machines start at different times. */
  readonly startsAt: number;
  readonly now: number;
}

export interface PullPlan {
  /** In order, including those in progress. */
  readonly learn: readonly string[];
  readonly pull: readonly string[];
  /** Cancel pulls in progress, which otherwise continue. */
  readonly stop: boolean;
  /** Human-readable. '' for nothing. */
  readonly waitsFor: string;
  /** When more can be done without an event. Null: only an event changes the plan. */
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
  // An image of unknown size blocks the others until it counts as failed, because all of them must fit together.
  const isHeldUp = unsized.some((image) => !hasFailed(attempts.get(image)));
  const pull = isHeldUp ? [] : missing.filter((image) => sizes.has(image) && isDue(image));
  const waits = unsized.filter((image) => attempts.has(image)).length;
  return {
    ...EMPTY_PLAN,
    learn: unsized.filter(isDue),
    pull,
    waitsFor: isHeldUp && waits > 0 ? `the registry to report the size of ${count(waits, 'image')}` : '',
    wakeAt: findEarliest(missing.flatMap((image) => attempts.get(image)?.notBefore ?? []).filter((at) => at > now)),
  };
}

function planWait({ node, mayPull }: PullPlanInput): PullPlan | null {
  // The kubelet is deleting images to free space: further pulls would work against it.
  if (node.hasDiskPressure) return { ...EMPTY_PLAN, stop: true, waitsFor: 'the node’s disk pressure to clear' };
  if (!node.isReady) return { ...EMPTY_PLAN, waitsFor: 'the node to be Ready' };
  if (!mayPull) return { ...EMPTY_PLAN, waitsFor: 'a pull slot: the pool limits how many machines pull concurrently' };
  return null;
}

const hasFailed = (attempts: Attempts | undefined): boolean => attempts !== undefined && isFailed(attempts);

/** In the order of the sets, without duplicates. */
export function listMissingImages(wanted: readonly DesiredSet[], present: ReadonlySet<string>): string[] {
  return [...new Set(wanted.flatMap(({ images }) => images))].filter((image) => !present.has(image));
}

/** The conditions of a Node that decide whether images are pulled to it. */
export interface NodeHealth {
  readonly isReady: boolean;
  readonly hasDiskPressure: boolean;
}

/** A node without the condition is not Ready, as for the scheduler. */
export function readNodeHealth(node: Pick<Node, 'status'> | undefined): NodeHealth {
  const conditions = node?.status?.conditions ?? [];
  const isTrue = (type: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === 'True');
  return { isReady: isTrue('Ready'), hasDiskPressure: isTrue('DiskPressure') };
}

export const isHealthy = ({ isReady, hasDiskPressure }: NodeHealth): boolean => isReady && !hasDiskPressure;

/** All machines learn of a set at the same moment, so each waits for its own constant delay. */
export function computeStartDelayMs(nodeName: string, maxMs: number): number {
  const share = createHash('sha256').update(nodeName).digest().readUInt32BE() / 2 ** 32;
  return Math.floor(share * maxMs);
}

// Whether missing images fit on the disk: all of them before the first pull, and each before its own.

export interface SpaceInput {
  readonly missing: readonly string[];
  readonly present: Iterable<string>;
  readonly sizes: KnownSizes;
  readonly store: ImageStore;
  readonly learned: LearnedNeed | null;
}

/** Pulls that were cancelled for lack of space: their images need more than these bytes. */
export interface LearnedNeed {
  readonly images: readonly string[];
  readonly bytes: number;
}

/** Null: they fit. Images of unknown size are ignored, because they are not pulled. */
export function findSpaceProblem({ missing, present, sizes, store, learned }: SpaceInput): Problem | null {
  const known = (images: Iterable<string>): SizedImage[] => [...images].flatMap((image) => sizes.get(image) ?? []);
  const { done, total } = computePullAmount(known(missing), known(present));
  const { fits, needed, usable } = spaceFor(total - done, { free: store.freeBytes, size: store.sizeBytes });
  if (learned !== null && learned.images.some((image) => missing.includes(image)) && usable <= learned.bytes)
    return stillTooLarge(learned, usable, store);
  if (fits) return null;
  return {
    code: 'SLW_PINNING_WOULD_NOT_FIT',
    message:
      `the missing images (${count(missing.length, 'image')}) need ${formatBytes(needed, 'up')} in ${store.path}, twice their download ` +
      `size. Only ${formatBytes(usable)} can be used: ${formatBytes(store.freeBytes)} are free, and a tenth of the file system, ` +
      'at most 2 GiB, is reserved. Nothing is pulled. Free space there, enlarge the file system, or remove images ' +
      'or sets',
  };
}

const stillTooLarge = (learned: LearnedNeed, usable: number, { path }: ImageStore): Problem => ({
  code: 'SLW_PINNING_WOULD_NOT_FIT',
  message:
    `${listNames(learned.images, { max: 3 })} took ${formatBytes(learned.bytes, 'up')} in ${path} before the pull was cancelled, and more is ` +
    `needed. Only ${formatBytes(usable)} can be used. Nothing is pulled. Remove the image from its set, or enlarge the file system`,
});

/** The pulls of these images were cancelled. */
export function describeLowSpace({ images, bytes }: LearnedNeed, { path, freeBytes, sizeBytes }: ImageStore): Problem {
  return {
    code: 'SLW_PINNING_NO_SPACE',
    message:
      `the free space in ${path} fell to ${formatBytes(freeBytes)} while ${listNames(images, { max: 3 })} ` +
      `${images.length === 1 ? 'was' : 'were'} being pulled and had taken ${formatBytes(bytes)}. A reserve of ` +
      `${formatBytes(reservedBytes(sizeBytes))} is not used for images, so all pulls were cancelled. Remove images that are larger than ` +
      'expected from their sets, or free space there',
  };
}
