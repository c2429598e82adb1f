import { describe, expect, it } from 'vitest';
import { decodeProblems, encodeProblems, formatProblems } from './problems.ts';

const problem = (message: string) => ({ code: 'SLW_RENDER_PARSE', message });

describe('the problems of a render in an annotation', () => {
  it('decode to what was encoded', () => {
    const problems = [problem('one'), problem('two')];
    expect(decodeProblems(encodeProblems(problems))).toEqual({ problems, more: 0 });
  });

  it('are limited in number and length, and report how many more there are', () => {
    const many = Array.from({ length: 1000 }, () => problem('x'.repeat(100_000)));
    const text = encodeProblems(many);
    expect(text.length).toBeLessThan(64 * 1024);
    expect(decodeProblems(text)).toMatchObject({ more: 980 });
  });

  it('show no secret that a manifest has', () => {
    const text = encodeProblems([problem('expected a kernel type, found "password=abc12"')]);
    expect(decodeProblems(text).problems).toEqual([problem('expected a kernel type, found "password=(hidden)"')]);
  });

  it.each(['', 'nonsense', '[]', 'null', '{"problems":[{"code":1}]}'])(
    'that another client wrote are shown: %j',
    (text) => {
      expect(decodeProblems(text).problems).toEqual([{ code: '', message: text }]);
    },
  );
});

it('are formatted one per line, with their codes if they have one', () => {
  expect(formatProblems([problem('one'), { code: '', message: 'two' }])).toBe('one [SLW_RENDER_PARSE]\ntwo');
});
