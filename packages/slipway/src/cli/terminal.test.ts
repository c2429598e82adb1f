import { describe, expect, it } from 'vitest';
import {
  byteSize,
  durationText,
  paintFor,
  plain,
  progressBar,
  shortConfig,
  shortConfigs,
  shortImage,
  table,
  wrapText,
} from './terminal.ts';

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1000, '1.0 kB'],
  [999_960, '1.0 MB'],
  [1_234_567_890, '1.2 GB'],
  [5e15, '5000.0 TB'],
])('%d bytes are %s', (bytes, text) => {
  expect(byteSize(bytes)).toBe(text);
});

describe('a rendered config in short', () => {
  it.each<[string | null, string]>([
    [`rendered-worker-1f2e3d4c${'0'.repeat(24)}`, 'rendered-worker-1f2e3d4c…'],
    [`rendered-my-pool-1f2e3d4c${'a'.repeat(24)}`, 'rendered-my-pool-1f2e3d4c…'],
    ['rendered-worker-2', 'rendered-worker-2'],
    [null, '-'],
  ])('%s: %s', (name, short) => {
    expect(shortConfig(name)).toBe(short);
  });

  it('is short anywhere in a text', () => {
    const name = `rendered-worker-1f2e3d4c${'0'.repeat(24)}`;
    expect(shortConfigs(`from ${name}. To ${name}, or drain-${name}`)).toBe(
      'from rendered-worker-1f2e3d4c…. To rendered-worker-1f2e3d4c…, or drain-rendered-worker-1f2e3d4c…',
    );
  });
});

describe('a duration in words', () => {
  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [60, '1 min'],
    [89, '1 min'],
    [3570, '1 h'],
    [7500, '2 h 5 min'],
    [86_399, '1 d'],
    [93_600, '1 d 2 h'],
    [-5, '0 s'],
  ])('%i seconds: %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});

it.each([
  [`registry.example.com/os@sha256:${'1f2e'.repeat(16)}`, 'registry.example.com/os@sha256:1f2e1f2e1f2e…'],
  ['registry.example.com/os:4.22', 'registry.example.com/os:4.22'],
  ['os@sha256:short', 'os@sha256:short'],
])('%s is shown as %s', (reference, shown) => {
  expect(shortImage(reference)).toBe(shown);
});

describe('a progress bar', () => {
  it.each([
    [0, 3, '[--------------------]'],
    [1, 2, '[##########----------]'],
    [3, 3, '[####################]'],
    [1, 1000, '[#-------------------]'],
    [999, 1000, '[###################-]'],
    [0, 0, '[####################]'],
  ])('%i of %i: %s', (done, total, bar) => {
    expect(progressBar(done, total)).toBe(bar);
  });
});

const terminal = { isTTY: true };

describe('a table', () => {
  it('makes columns as wide as needed, without trailing spaces', () => {
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

  it('aligns columns with coloured text', () => {
    const rows = [
      [{ text: 'no', colour: 'red' }, 'x'],
      [{ text: 'fine', colour: 'green' }, 'y'],
    ] as const;
    const painted = table(['A', 'B'], rows, paintFor(terminal, {}));
    expect(painted).toContain('\u001b[31mno\u001b[39m    x');
    expect(painted).toContain('\u001b[32mfine\u001b[39m  y');
    expect(table(['A', 'B'], rows)).toBe('A     B\nno    x\nfine  y\n');
  });

  it('escapes characters that would move the cursor or start a new line', () => {
    expect(table(['A'], [['a\u001b[2Jb\nc']])).toBe('A\na\\u{1b}[2Jb\\nc\n');
  });
});

describe('colours', () => {
  it.each<[string, object, Record<string, string>]>([
    ['in a pipe', {}, {}],
    ['where NO_COLOR is set', terminal, { NO_COLOR: '1' }],
    ['on a terminal without colours', terminal, { TERM: 'dumb' }],
  ])('are off %s', (_, stream, env) => {
    expect(paintFor(stream, env)).toBe(plain);
  });

  it('are on for a terminal, also if NO_COLOR is empty', () => {
    expect(paintFor(terminal, { NO_COLOR: '', TERM: 'xterm' })('red', 'x')).toBe('\u001b[31mx\u001b[39m');
  });
});

describe('wrapped text', () => {
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
