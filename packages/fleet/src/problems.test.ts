import { describe, expect, it } from 'vitest';
import { decodeProblems, encodeProblems, formatProblems } from './problems.ts';

const problem = (message: string) => ({ code: 'SLW_RENDER_PARSE', message });

describe('the problems of a render in an annotation', () => {
  it('come back as they went', () => {
    const problems = [problem('one'), problem('two')];
    expect(decodeProblems(encodeProblems(problems))).toEqual({ problems, more: 0 });
  });

  it('are bounded in number and length, and say how many more there are', () => {
    const many = Array.from({ length: 1000 }, () => problem('x'.repeat(100_000)));
    const text = encodeProblems(many);
    expect(text.length).toBeLessThan(64 * 1024);
    expect(decodeProblems(text)).toMatchObject({ more: 980 });
  });

  it.each(['', 'nonsense', '[]', 'null', '{"problems":[{"code":1}]}'])(
    'that somebody else wrote are shown: %j',
    (text) => {
      expect(decodeProblems(text).problems).toEqual([{ code: '', message: text }]);
    },
  );
});

it('problems are a line each, with their codes; what has no code stands alone', () => {
  expect(formatProblems([problem('one'), { code: '', message: 'two' }])).toBe('one [SLW_RENDER_PARSE]\ntwo');
});
