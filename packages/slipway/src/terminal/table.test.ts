import { describe, expect, it } from 'vitest';
import { paintFor, plain } from './paint.ts';
import { table } from './table.ts';

const terminal = { isTTY: true };

describe('a table', () => {
  it('has columns as wide as they need, and no spaces at the end of a line', () => {
    expect(
      table(
        ['A', 'LONG'],
        [
          ['one', 'x'],
          ['b', ''],
        ],
      ),
    ).toBe('A    LONG\none  x\nb\n');
  });

  it('keeps its columns straight where words have colours', () => {
    const rows = [
      [{ text: 'no', colour: 'red' }, 'x'],
      [{ text: 'fine', colour: 'green' }, 'y'],
    ] as const;
    const painted = table(['A', 'B'], rows, paintFor(terminal, {}));
    expect(painted).toContain('\u001b[31mno\u001b[39m    x');
    expect(painted).toContain('\u001b[32mfine\u001b[39m  y');
    expect(table(['A', 'B'], rows)).toBe('A     B\nno    x\nfine  y\n');
  });

  it('shows what would move the cursor or begin a line as its code', () => {
    expect(table(['A'], [['a\u001b[2Jb\nc']])).toBe('A\na\\u{1b}[2Jb\\nc\n');
  });
});

describe('colours', () => {
  it.each<[string, object, Record<string, string>]>([
    ['in a pipe', {}, {}],
    ['where NO_COLOR is set', terminal, { NO_COLOR: '1' }],
    ['on a terminal that knows none', terminal, { TERM: 'dumb' }],
  ])('are left out %s', (_, stream, env) => {
    expect(paintFor(stream, env)).toBe(plain);
  });

  it('are there on a terminal, also where NO_COLOR is empty', () => {
    expect(paintFor(terminal, { NO_COLOR: '', TERM: 'xterm' })('red', 'x')).toBe('\u001b[31mx\u001b[39m');
  });
});
