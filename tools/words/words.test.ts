import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXCEPTIONS } from './exceptions.ts';
import { findWords, isChecked, unusedExceptions } from './find-words.ts';
import { GLOSSARY } from './glossary.ts';
import { collectPublicNames, type PublicNames } from './public-names.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('the glossary', () => {
  it.each(GLOSSARY.map(({ example, use }) => [example, use]))('refuses "%s" and suggests %s', (example, use) => {
    const places = [
      ['docs/page.md', `A page: ${example}.`],
      ['packages/kube/src/x.ts', `// ${example}\nexport const x = 1;`],
      ['packages/kube/src/x.ts', `export const x = 'Node worker-1: ${example}';`],
      ['packages/kube/src/x.ts', `export const x = (name: string) => \`Node \${name}: ${example}\`;`],
      ['deploy/crds/own/x.yaml', `description: ${example}`],
    ] as const;
    for (const [path, source] of places) {
      expect(findWords(path, source, []).map((found) => found.use)).toContain(use);
    }
  });

  it.each([
    ['a name in code', 'packages/kube/src/x.ts', 'export const told = somebody.says;'],
    ['a value without a blank', 'packages/kube/src/x.ts', "export const state = 'wanted';"],
    ['code in the middle of a page', 'docs/page.md', 'Set `wanted` in the spec.'],
    ['a well-formed sentence', 'docs/page.md', 'A config that is well-formed is rendered immediately.'],
  ])('accepts %s', (_, path, source) => {
    expect(findWords(path, source, [])).toEqual([]);
  });

  it('accepts a line with an exception, and reports an exception that no line needs', () => {
    const exception = { file: 'docs/page.md', text: 'no one left behind', reason: 'a quotation' };
    const source = 'The motto: no one left behind.';
    expect(findWords('docs/page.md', source, [exception])).toEqual([]);
    expect(unusedExceptions([exception], () => source)).toEqual([]);
    expect(unusedExceptions([exception], () => 'Another line.')).toEqual([exception]);
  });

  it('has at most 20 exceptions, each with its reason', () => {
    expect(EXCEPTIONS.length).toBeLessThanOrEqual(20);
    expect(EXCEPTIONS.filter(({ reason }) => reason.length < 10)).toEqual([]);
  });

  it.each([
    ['packages/fleet/src/rollout/waves.ts', true],
    ['deploy/crds/own/pinnedimagesets.yaml', true],
    ['docs/adr/README.md', true],
    ['README.md', true],
    ['packages/fleet/src/rollout/waves.test.ts', false],
    ['packages/fleet/src/testing/sample.ts', false],
    ['e2e/render.e2e.test.ts', false],
  ])('%s is checked: %s', (path, checked) => {
    expect(isChecked(path)).toBe(checked);
  });
});

describe('public names', () => {
  const isProduct = (path: string): boolean =>
    path.endsWith('.ts') && !/\.test\.ts$|\/testing\/|^packages\/(testing|simulator)\//.test(path);
  const files = execFileSync('git', ['ls-files', 'packages/*/src/*.ts'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter(isProduct);
  const now = collectPublicNames(files.map((path) => ({ path, source: read(path) })));
  const before = JSON.parse(read('tools/words/public-names.json')) as PublicNames;

  it.each(['codes', 'keys', 'metrics', 'values', 'fields'] as const)(
    'that users rely on are all still there: %s',
    (kind) => {
      expect(before[kind].length).toBeGreaterThan(20);
      expect(before[kind].filter((name) => !now[kind].includes(name))).toEqual([]);
    },
  );

  it('are found in code: codes, keys, metrics, values and fields', () => {
    const source = `
      export interface Report { readonly isHalted: boolean }
      const metric = { name: 'slipway_things_total', help: 'Things' };
      throw new KubeError('SLW_KUBE_GONE', 'gone');
      event('ConfigDriftDetected', annotations['slipway.dev/hold']);`;
    expect(collectPublicNames([{ path: 'packages/fleet/src/x.ts', source }])).toEqual({
      codes: ['SLW_KUBE_GONE'],
      keys: ['slipway.dev/hold'],
      metrics: ['slipway_things_total'],
      values: ['ConfigDriftDetected'],
      fields: ['isHalted'],
    });
  });
});
