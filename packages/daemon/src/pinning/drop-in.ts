// What tells CRI-O which images to keep.
import type { WantedSet } from './wanted-set.ts';

export const DROP_IN = '/etc/crio/crio.conf.d/50-pinned-images';

/** The same sets always give the same text. Null: nothing is pinned, and there is no file. */
export function dropInOf(sets: readonly WantedSet[]): string | null {
  const images = imagesOf(sets);
  if (images.length === 0) return null;
  const lines = images.map((image) => `  ${JSON.stringify(image)},`);
  return [HEAD, '[crio.image]', 'pinned_images = [', ...lines, ']', ''].join('\n');
}

const HEAD =
  '# Written by the machine config daemon from the PinnedImageSets of this node: changes made here are lost.';

/** Sorted, each once. */
export const imagesOf = (sets: readonly WantedSet[]): string[] =>
  [...new Set(sets.flatMap(({ images }) => images))].toSorted();
