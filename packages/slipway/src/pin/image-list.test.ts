import { describe, expect, it } from 'vitest';
import { ProblemList } from '@slipway/fleet';
import { readImageList } from './image-list.ts';

const image = (name: string, digit = 'a'): string => `registry.example.com/shop/${name}@sha256:${digit.repeat(64)}`;

function listProblems(text: string): string[] {
  try {
    readImageList(text);
  } catch (error) {
    if (error instanceof ProblemList) return error.problems.map(({ code, message }) => `${code} ${message}`);
  }
  return [];
}

describe('a list of images', () => {
  it('has one image per line, in order, without duplicates, comments and empty lines', () => {
    const text = `# the shop\n\n${image('cart')}   # needed first\r\n  ${image('api')}\n${image('cart')}\n#${image('old')}\n`;
    expect(readImageList(text)).toEqual([image('cart'), image('api')]);
  });

  it.each([
    ['nothing in it', '# none yet\n', ['expected one image by digest per line, found none']],
    ['a tag', `${image('cart')}\nregistry.example.com/shop/api:1.2\n`, ['line 2', 'by digest']],
    ['a short name', `shop@sha256:${'a'.repeat(64)}`, ['line 1', 'host[:port]']],
    ['two on a line', `${image('cart')} ${image('api')}`, ['line 1']],
    ['too many', Array.from({ length: 10_001 }, (_, index) => image(`a${index}`)).join('\n'), ['at most 10000']],
  ])('with %s is refused, with the line', (_, text, words) => {
    const [problem = ''] = listProblems(text);
    expect(problem).toMatch(/^SLW_CLI_PIN_IMAGES /);
    for (const word of words) expect(problem).toContain(word);
  });

  it('is refused with the problems of all lines together', () => {
    expect(listProblems('a\nb\nc\n')).toHaveLength(3);
  });
});
