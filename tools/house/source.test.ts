import { describe, expect, it } from 'vitest';
import { countLines, isProduct, readExports, readSource, resolveImport } from './source.ts';

describe('product files', () => {
  it.each([
    ['packages/kube/src/client.ts', true],
    ['packages/controllers/src/drain/evict.ts', true],
    ['packages/kube/src/client.test.ts', false],
    ['packages/kube/src/client.e2e.test.ts', false],
    ['packages/controllers/src/drain/testing/drain-cluster.ts', false],
    ['packages/fleet/src/rollout/sample-facts.ts', false],
    ['packages/testing/src/wait.ts', false],
    ['packages/ignition/test/fuzz.ts', false],
    ['tools/check.ts', false],
  ])('%s: %s', (path, product) => {
    expect(isProduct(path)).toBe(product);
  });
});

describe('the imports of a file', () => {
  it('are its imports, re-exports and dynamic imports, with their names', () => {
    const { imports } = readSource(
      'a.ts',
      `import type { A } from './types.ts';
       import { b as c, type D } from '@slipway/kube';
       export { e } from './e.ts';
       export * from './all.ts';
       export const own = 1;
       // import { no } from './comment.ts';
       const { f, g: h } = await import('./lazy.ts');
       const text = "import { no } from './text.ts'";`,
    );
    expect(imports).toEqual([
      { specifier: './types.ts', names: ['A'] },
      { specifier: '@slipway/kube', names: ['b', 'D'] },
      { specifier: './e.ts', names: ['e'] },
      { specifier: './all.ts', names: ['*'] },
      { specifier: './lazy.ts', names: ['f', 'g'] },
    ]);
  });

  it('cannot be read from a file that does not parse', () => {
    expect(() => readSource('a.ts', 'import {')).toThrow(/^a\.ts does not parse/);
  });

  const exports = new Map([
    ...readExports('packages/base', {
      name: '@slipway/base',
      exports: { './*': './src/*.ts', './http': './src/http/index.ts' },
    }),
    ...readExports('packages/kube', { name: '@slipway/kube', exports: { '.': './src/index.ts' } }),
  ]);
  it.each([
    ['./b.ts', 'packages/kube/src/watch/b.ts'],
    ['../b.ts', 'packages/kube/src/b.ts'],
    ['@slipway/kube', 'packages/kube/src/index.ts'],
    ['@slipway/base/text', 'packages/base/src/text.ts'],
    ['@slipway/base/http', 'packages/base/src/http/index.ts'],
    ['@slipway/kube/inside', undefined],
    ['node:fs', undefined],
  ])('resolve to files: %s to %s', (specifier, path) => {
    expect(resolveImport('packages/kube/src/watch/a.ts', specifier, exports)).toBe(path);
  });
});

it.each([
  ['', 0],
  ['a\n', 1],
  ['a\nb', 2],
  ['a\n\n', 2],
])('lines of %j: %i', (text, lines) => {
  expect(countLines(text)).toBe(lines);
});
