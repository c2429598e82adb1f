import { formatDropIn } from '../../host/cri/cri-o.ts';
import type { DesiredSet } from '../assigned-sets.ts';

/** A digest for a letter: `a` → 64 times `a`… for any short word that is hexadecimal. */
export const buildImageName = (word: string): string => `registry.example.com/team/app@sha256:${word.padEnd(64, '0')}`;

export const buildSet = (name: string, words: readonly string[], generation = 1, uid = `uid-${name}`): DesiredSet => ({
  name,
  uid,
  generation,
  images: words.map(buildImageName).toSorted(),
});

export const buildPresent = (...words: readonly string[]): ReadonlySet<string> => new Set(words.map(buildImageName));

/** What CRI-O is told where these are pinned. */
export const formatSetsDropIn = (sets: readonly DesiredSet[]): string | null =>
  formatDropIn(sets.flatMap(({ images }) => images));
