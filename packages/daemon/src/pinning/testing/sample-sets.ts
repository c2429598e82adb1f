import { formatDropIn } from '../../host/cri/cri-o.ts';
import type { DesiredSet } from '../assigned-sets.ts';

/** An image whose digest starts with the word, which must be hexadecimal. */
export const buildImageName = (word: string): string => `registry.example.com/team/app@sha256:${word.padEnd(64, '0')}`;

export const buildSet = (name: string, words: readonly string[], generation = 1, uid = `uid-${name}`): DesiredSet => ({
  name,
  uid,
  generation,
  images: words.map(buildImageName).toSorted(),
});

export const buildPresent = (...words: readonly string[]): ReadonlySet<string> => new Set(words.map(buildImageName));

/** The drop-in of CRI-O that pins these sets. */
export const formatSetsDropIn = (sets: readonly DesiredSet[]): string | null =>
  formatDropIn(sets.flatMap(({ images }) => images));
