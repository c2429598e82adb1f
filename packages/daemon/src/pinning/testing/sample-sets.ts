import { formatDropIn } from '../../host/cri/cri-o.ts';
import type { DesiredSet } from '../assigned-sets.ts';

/** A digest for a letter: `a` → 64 times `a`… for any short word that is hexadecimal. */
export const imageOf = (word: string): string => `registry.example.com/team/app@sha256:${word.padEnd(64, '0')}`;

export const setOf = (name: string, words: readonly string[], generation = 1, uid = `uid-${name}`): DesiredSet => ({
  name,
  uid,
  generation,
  images: words.map(imageOf).toSorted(),
});

export const presentOf = (...words: readonly string[]): ReadonlySet<string> => new Set(words.map(imageOf));

/** What CRI-O is told where these are pinned. */
export const dropInOf = (sets: readonly DesiredSet[]): string | null =>
  formatDropIn(sets.flatMap(({ images }) => images));
