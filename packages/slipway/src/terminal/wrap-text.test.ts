import { describe, expect, it } from 'vitest';
import { wrapText } from './wrap-text.ts';

describe('a text in lines', () => {
  it.each<[string, number | undefined, string[]]>([
    ['one two three', 8, ['one two', 'three']],
    ['one two', 7, ['one two']],
    ['a verylongword b', 4, ['a', 'verylongword', 'b']],
    ['one two three', undefined, ['one two three']],
    ['', 5, ['']],
  ])('%j, %s wide', (text, width, lines) => {
    expect(wrapText(text, width)).toEqual(lines);
  });
});
