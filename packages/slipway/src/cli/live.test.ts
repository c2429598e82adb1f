import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createScreen } from './live.ts';

/** The lines on a terminal with that many rows after all texts are drawn. */
async function shownBy(rows: number, ...texts: string[]): Promise<string[]> {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { rows });
  const written = stream.toArray();
  const screen = createScreen(stream);
  for (const text of texts) await screen.draw(text);
  stream.end();
  const lines: string[] = [];
  let row = 0;
  for (const [, up, erase, text] of (await written)
    .join('')
    .replaceAll('\u001b', '^')
    .replaceAll(/\^\[\?7[lh]|\r/g, '')
    .matchAll(/\^\[(\d+)A|(\^\[J)|([^\n^]*)\n/g)) {
    if (up !== undefined) row -= Number(up);
    else if (erase !== undefined) lines.length = row;
    else {
      lines[row] = text ?? '';
      row += 1;
    }
  }
  expect(lines.length).toBeLessThan(rows);
  return lines;
}

describe('a screen', () => {
  it('replaces the previous text, even a longer one', async () => {
    expect(await shownBy(24, 'a\nb\nc\n', 'd\ne\n')).toEqual(['d', 'e']);
  });

  it('does not redraw unchanged text, which would flicker', async () => {
    const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { rows: 24 });
    const written = stream.toArray();
    const screen = createScreen(stream);
    for (const text of ['same\n', 'same\n', 'same\n']) await screen.draw(text);
    stream.end();
    expect((await written).join('').split('same')).toHaveLength(2);
  });

  it('never prints more lines than the terminal has, and counts the missing ones', async () => {
    const text = Array.from({ length: 10 }, (_, number) => `line ${number}`).join('\n');
    expect(await shownBy(5, text, text)).toEqual([
      'line 0',
      'line 1',
      'line 2',
      '… 7 more lines; enlarge the terminal to see them',
    ]);
  });
});
