import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseReport } from './duplicates.ts';
import { findMedian, measureCli, measureHouse, measureWrites } from './measure.ts';
import { readSource } from './source.ts';

it.each([
  [[], 0],
  [[3], 3],
  [[9, 1, 3], 3],
  [[1, 2, 3, 10], 2.5],
])('the median of %j is %d', (numbers, median) => {
  expect(findMedian(numbers)).toBe(median);
});

const house = (files: Record<string, string>) => ({
  files: Object.entries(files).map(([path, text]) => readSource(path, text)),
  exports: new Map<string, string>(),
});

it('the command imports controllers in files that are counted once, and names that are counted once', () => {
  const values = measureCli(
    house({
      'packages/slipway/src/a.ts':
        "import { x, y } from '@slipway/controllers';\nimport { z } from '@slipway/controllers/z';",
      'packages/slipway/src/b.ts':
        "export const load = async () => { const { x } = await import('@slipway/controllers'); return x; };",
      'packages/slipway/src/c.ts': "import { x } from '@slipway/fleet';",
      'packages/server/src/d.ts': "import { x } from '@slipway/controllers';",
    }),
  );
  expect(values.map(({ value }) => value)).toEqual([2, 3]);
});

it('raw writes are those on a client, in the shells, wherever the line breaks', () => {
  const [patches, others] = measureWrites(
    house({
      'packages/controllers/src/a.ts': 'await client.patch(x);\nawait context.client\n  .patch(y);\nwrite.patch(z);',
      'packages/daemon/src/b.ts': 'await nodeClient.patch(x);\nmap.delete(y);\nclient.delete(z);',
      'packages/kube/src/c.ts': 'await client.patch(x);',
    }),
  );
  expect(patches?.places).toEqual([
    'packages/controllers/src/a.ts:1',
    'packages/controllers/src/a.ts:2',
    'packages/daemon/src/b.ts:1',
  ]);
  expect(others?.places).toEqual(['packages/daemon/src/b.ts:3']);
});

describe('duplicates', () => {
  it('are read from a report with the paths of the checkout', () => {
    const place = (name: string, start: number) => ({ name, start });
    expect(
      parseReport(
        { duplicates: [{ lines: 9, firstFile: place('/house/a.ts', 3), secondFile: place('/house/b.ts', 7) }] },
        '/house',
      ),
    ).toEqual([{ lines: 9, places: ['a.ts:3', 'b.ts:7'] }]);
  });

  it('are found between product files, below any directory', () => {
    // jscpd would skip everything below a directory of this name.
    const root = join(mkdtempSync(join(tmpdir(), 'slipway-house-')), 'testing');
    onTestFinished(() => rmSync(dirname(root), { recursive: true }));
    const copied = Array.from(
      { length: 9 },
      (_, at) => `export const value${at} = compute(${at}, 'text ${at}', { at: ${at} });\n`,
    );
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    for (const path of ['a.ts', 'b.ts', 'c.test.ts', 'testing/d.ts'])
      write(`packages/kube/src/${path}`, copied.join(''));
    write('packages/kube/package.json', '{ "name": "@slipway/kube" }');
    const measures = new Map(measureHouse(root).map((measure) => [measure.name, measure]));
    expect(measures.get('product files')?.value).toBe(2);
    expect(measures.get('duplicates of 8 lines or more')?.places).toEqual([
      'packages/kube/src/a.ts:1 and packages/kube/src/b.ts:1: 9 lines',
    ]);
  });
});
