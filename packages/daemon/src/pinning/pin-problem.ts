// What keeps a node from its images, for people: the set, the image, what was said, the code and the way out.
import type { Problem } from '../problem.ts';
import { type Attempts, isFailed } from './attempts.ts';
import { missingImages } from './next-work.ts';
import type { WantedSet } from './wanted-set.ts';

export interface PinProblem extends Problem {
  /** The same problem has the same one, whatever figures its message names. */
  readonly key: string;
  /** The sets that it keeps from being complete. */
  readonly sets: readonly string[];
}

/** That of the images that count as failed. */
export function imageProblems(
  wanted: readonly WantedSet[],
  present: ReadonlySet<string>,
  attempts: ReadonlyMap<string, Attempts>,
): PinProblem[] {
  return missingImages(wanted, present).flatMap((image) => {
    const tried = attempts.get(image);
    if (tried === undefined || !isFailed(tried)) return [];
    const sets = wanted.filter(({ images }) => images.includes(image)).map(({ name }) => name);
    return [ofImage(image, sets, tried.problem)];
  });
}

function ofImage(image: string, sets: readonly string[], { code, message }: Problem): PinProblem {
  const text = `${named(sets)}, image ${image}: ${ended(message)} ${WAY_OUT}`;
  return { code, key: `${code} ${image}`, sets, message: text };
}

const named = (sets: readonly string[]): string =>
  `PinnedImageSet ${sets.slice(0, MOST_SETS).join(', ')}${sets.length > MOST_SETS ? ' and others' : ''}`;

const MOST_SETS = 3;
const WAY_OUT = 'It is tried again every few minutes; or take the image out of the set';

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Of something that concerns all sets alike. */
export const problemOfAll = ({ code, message }: Problem, sets: readonly string[]): PinProblem => ({
  code,
  key: code,
  sets,
  message: `${named(sets)}: ${message}`,
});

const MOST_TOLD = 3;
const MOST_LETTERS = 1200;

/** All of them in one text of bounded length; '' for none. */
export function describeProblems(problems: readonly PinProblem[]): string {
  const told = problems.slice(0, MOST_TOLD).map(({ code, message }) => shorten(`${code}: ${message}`));
  const rest = problems.length - told.length;
  if (rest > 0) told.push(`${rest} more ${rest === 1 ? 'image' : 'images'} failed`);
  return told.join('\n');
}

const shorten = (text: string): string =>
  text.length <= MOST_LETTERS ? text : `${text.slice(0, MOST_LETTERS - 1).toWellFormed()}…`;

/** What the set is told of: the first that it is kept back by. Null: nothing. */
export function problemOfSet(problems: readonly PinProblem[], set: string): string | null {
  const found = problems.find(({ sets }) => sets.includes(set));
  return found === undefined ? null : shorten(`${found.code}: ${found.message}`);
}
