import { describe, expect, it } from 'vitest';
import { countByFolder, findCycles, findPart, listCrossings, listEdges, listSmallFiles } from './folders.ts';
import { type House, readSource } from './source.ts';

const house = (files: Record<string, string>, exports: Record<string, string> = {}): House => ({
  files: Object.entries(files).map(([path, text]) => readSource(path, text)),
  exports: new Map(Object.entries(exports)),
});
const importing = (...specifiers: string[]): string => specifiers.map((each) => `import '${each}';\n`).join('');

describe('folders', () => {
  it('are counted without subfolders, fullest first', () => {
    expect(countByFolder(house({ 'a/1.ts': '', 'a/2.ts': '', 'a/b/3.ts': '' }))).toEqual([
      ['a', 2],
      ['a/b', 1],
    ]);
  });

  it.each([
    ['packages/controllers/src/drain/evict.ts', { package: 'controllers', folder: 'drain' }],
    ['packages/controllers/src/data-images/ironic/client.ts', { package: 'controllers', folder: 'data-images' }],
    ['packages/controllers/src/index.ts', undefined],
  ])('%s is of %j', (path, part) => {
    expect(findPart(path)).toEqual(part);
  });
});

describe('imports between folders', () => {
  const edges = listEdges(
    house(
      {
        'packages/controllers/src/sources.ts': '',
        'packages/controllers/src/drain/controller.ts': importing(
          '../render/controller.ts',
          '../sources.ts',
          './evict.ts',
        ),
        'packages/controllers/src/drain/evict.ts': importing(
          '@slipway/controllers/render',
          '@slipway/fleet',
          'node:fs',
        ),
        'packages/controllers/src/render/controller.ts': '',
        'packages/fleet/src/index.ts': '',
      },
      {
        '@slipway/controllers/render': 'packages/controllers/src/render/controller.ts',
        '@slipway/fleet': 'packages/fleet/src/index.ts',
      },
    ),
  );

  it('are counted by statement, by path and by name; shared files of the package and neighbours do not count', () => {
    expect(listCrossings(edges, 'controllers')).toEqual([
      { from: 'packages/controllers/src/drain/controller.ts', to: 'packages/controllers/src/render/controller.ts' },
      { from: 'packages/controllers/src/drain/evict.ts', to: 'packages/controllers/src/render/controller.ts' },
    ]);
    expect(listCrossings(edges, 'fleet')).toEqual([]);
  });

  it.each([
    ['no circle', 'ab bc ac', []],
    ['two', 'ab ba', [['a', 'b']]],
    ['by way of a third', 'ab bc ca cd', [['a', 'b', 'c']]],
    [
      'two circles',
      'ab ba cd dc bc',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
  ])('circles: %s', (_, pairs, cycles) => {
    const crossings = pairs.split(' ').map(([from, to]) => ({
      from: `packages/fleet/src/${from}/x.ts`,
      to: `packages/fleet/src/${to}/x.ts`,
    }));
    expect(findCycles(crossings)).toEqual(cycles);
  });
});

it('small files are those of 40 lines or fewer that one file imports, however often', () => {
  const lines = (count: number): string => '// a line\n'.repeat(count);
  const small = house({
    'packages/kube/src/user.ts': importing('./once.ts', './long.ts', './shared.ts') + "export * from './once.ts';\n",
    'packages/kube/src/other.ts': importing('./shared.ts'),
    'packages/kube/src/once.ts': lines(40),
    'packages/kube/src/long.ts': lines(41),
    'packages/kube/src/shared.ts': lines(1),
  });
  expect(listSmallFiles(small, listEdges(small))).toEqual([
    { path: 'packages/kube/src/once.ts', lines: 40, importer: 'packages/kube/src/user.ts' },
  ]);
});
