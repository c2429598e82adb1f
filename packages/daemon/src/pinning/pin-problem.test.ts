import { describe, expect, it } from 'vitest';
import type { Attempts } from './attempts.ts';
import { describeProblems, imageProblems, problemOfAll, problemOfSet } from './pin-problem.ts';
import { imageOf, presentOf, setOf } from './testing/sample-sets.ts';

const said = { code: 'SLW_PINNING_PULL', message: 'CRI-O said: manifest unknown' };
const failed: Attempts = { tries: 5, firstAt: 0, lastAt: 15_000, notBefore: 60_000, problem: said };
const tried: Attempts = { ...failed, tries: 1, lastAt: 0 };
const wanted = [setOf('s', ['a', 'b']), setOf('t', ['b', 'c'])];

describe('what keeps a node from its images', () => {
  it('names the sets, the image, what was said, the code, and the way out', () => {
    const problems = imageProblems(wanted, presentOf('a'), new Map([[imageOf('b'), failed]]));
    expect(problems).toMatchObject([{ code: said.code, sets: ['s', 't'] }]);
    const text = describeProblems(problems);
    for (const part of ['SLW_PINNING_PULL', 'PinnedImageSet s, t', imageOf('b'), said.message, 'out of the set'])
      expect(text).toContain(part);
  });

  it('is not an image that was only tried, or that is there after all', () => {
    expect(imageProblems(wanted, presentOf(), new Map([[imageOf('b'), tried]]))).toEqual([]);
    expect(imageProblems(wanted, presentOf('b'), new Map([[imageOf('b'), failed]]))).toEqual([]);
  });

  it('is told of a set that it keeps back, and of no other', () => {
    const problems = imageProblems(wanted, presentOf(), new Map([[imageOf('a'), failed]]));
    expect(problemOfSet(problems, 's')).toContain(imageOf('a'));
    expect(problemOfSet(problems, 't')).toBeNull();
  });

  it('stays short, however many images fail and however much was said', () => {
    const words = Array.from({ length: 300 }, (_, index) => index.toString(16).padStart(3, '0'));
    const long: Attempts = { ...failed, problem: { ...said, message: 'x'.repeat(5000) } };
    const problems = imageProblems([setOf('s', words)], new Set(), new Map(words.map((word) => [imageOf(word), long])));
    const text = describeProblems(problems);
    expect(text.length).toBeLessThan(4000);
    expect(text).toMatch(/297 more images failed$/);
  });

  it('is the same problem when only its figures differ', () => {
    const full = (free: string) => problemOfAll({ code: 'SLW_PINNING_WOULD_NOT_FIT', message: free }, ['s']);
    expect(full('1 GB').key).toBe(full('2 GB').key);
  });
});
