import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createScreen } from './live.ts';

/** What a terminal of these rows shows, line by line, after all that was written. */
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
  it('has the last text in the place of the one before, also where that was longer', async () => {
    expect(await shownBy(24, 'a\nb\nc\n', 'd\ne\n')).toEqual(['d', 'e']);
  });

  it('is not drawn again where nothing changed, so that it does not flicker', async () => {
    const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { rows: 24 });
    const written = stream.toArray();
    const screen = createScreen(stream);
    for (const text of ['same\n', 'same\n', 'same\n']) await screen.draw(text);
    stream.end();
    expect((await written).join('').split('same')).toHaveLength(2);
  });

  it('never has more lines than the terminal, and says how many are missing', async () => {
    const text = Array.from({ length: 10 }, (_, number) => `line ${number}`).join('\n');
    expect(await shownBy(5, text, text)).toEqual([
      'line 0',
      'line 1',
      'line 2',
      '… 7 more lines; a taller terminal shows them',
    ]);
  });
});
