import { describe, expect, it } from 'vitest';
import { isSameOutput, readTour } from './readme-tour.ts';

const page = `# Title

## A first tour

Some words.

\`\`\`sh
npm install
\`\`\`

\`\`\`
$ one --flag
first line
…
$ two
\`\`\`

\`\`\`sh
npm start
\`\`\`

## More

\`\`\`
$ three
\`\`\`
`;

describe('the tour of a page', () => {
  it('is what the blocks of its section show', () => {
    expect(readTour(page, 'A first tour')).toEqual([
      { command: 'one --flag', output: ['first line', '…'] },
      { command: 'two', output: [] },
    ]);
    expect(() => readTour(page, 'Another')).toThrow('no section "Another"');
  });

  it.each([
    [['a', 'b'], 'a\nb\n', true],
    [['a', 'b'], 'a\nc\n', false],
    [['a', '…', 'd'], 'a\nb\nc\nd\n', true],
    [['a', '…'], 'a\n', true],
    [['…', 'd'], 'a\nb\n', false],
    [['a'], 'a\nb\n', false],
    [[], '', true],
    [['to rendered-worker-226a719c…'], 'to rendered-worker-0123abcd…', true],
    [['to rendered-worker-226a719c…'], 'to rendered-master-226a719c…', false],
    [['at 2026-11-16T08:55:40.075Z, 10.8 s'], 'at 2027-01-01T00:00:00Z, 3 s', true],
  ])('%j and %j: %s', (expected, output, same) => {
    expect(isSameOutput(expected, output)).toBe(same);
  });
});
