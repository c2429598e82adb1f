// Which PinnedImageSets hold a list of images, and what that means for those that are there already.
import type { PinnedImageSet } from '@slipway/api';
import type { Stored } from '@slipway/kube';
import { MOST_IMAGES } from './image-list.ts';

export interface NewSet {
  readonly object: PinnedImageSet;
  /** As the cluster has it; null: it has none of this name. */
  readonly before: Stored<PinnedImageSet> | null;
  readonly change: 'make' | 'change' | 'none';
  readonly added: number;
  readonly removed: number;
}

export interface SetsRequest {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly images: readonly string[];
  /** By name. */
  readonly present: ReadonlyMap<string, Stored<PinnedImageSet>>;
}

/** The first has the name itself, so that a list that grows past one set leaves it where it is. */
const setName = (name: string, index: number): string => (index === 0 ? name : `${name}-${index + 1}`);

export function newSets({ name, labels, images, present }: SetsRequest): NewSet[] {
  const parts = Array.from({ length: Math.ceil(images.length / MOST_IMAGES) }, (_, index) =>
    images.slice(index * MOST_IMAGES, (index + 1) * MOST_IMAGES),
  );
  return parts.map((part, index) => newSet(setName(name, index), labels, part, present));
}

function newSet(
  name: string,
  labels: Readonly<Record<string, string>>,
  images: readonly string[],
  present: SetsRequest['present'],
): NewSet {
  const object: PinnedImageSet = {
    metadata: { name, labels: { ...labels } },
    spec: { pinnedImages: images.map((image) => ({ name: image })) },
  };
  const before = present.get(name) ?? null;
  if (before === null) return { object, before, change: 'make', added: images.length, removed: 0 };
  const old = new Set(before.spec.pinnedImages.map((image) => image.name));
  const added = images.filter((image) => !old.has(image)).length;
  const removed = old.size + added - images.length;
  const isLabelled = Object.entries(labels).every(([key, value]) => before.metadata.labels?.[key] === value);
  return { object, before, change: added + removed === 0 && isLabelled ? 'none' : 'change', added, removed };
}

/** Sets of a longer list of the same name that was there before: nobody asked to let go of their images. */
export function leftOver({ name, images, present }: Omit<SetsRequest, 'labels'>): string[] {
  const first = Math.ceil(images.length / MOST_IMAGES);
  const left: string[] = [];
  for (let index = Math.max(1, first); present.has(setName(name, index)); index += 1) left.push(setName(name, index));
  return left;
}
