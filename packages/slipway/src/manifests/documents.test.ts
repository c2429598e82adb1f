import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDocuments } from './documents.ts';
import { findManifestFiles } from './files.ts';
import { placeOf, toCodedProblem } from './manifest-document.ts';

const positionsAndValues = (text: string) =>
  parseDocuments('fleet.yaml', text).documents.map(({ position, value }) => [position, value]);

const listProblems = (text: string) => parseDocuments('fleet.yaml', text).findings.map(toCodedProblem);

describe('the documents of a manifest file', () => {
  it.each<[string, string, [string, unknown][]]>([
    ['one document of YAML', 'kind: A\n', [['', { kind: 'A' }]]],
    ['JSON', '{"kind":"A"}', [['', { kind: 'A' }]]],
    ['YAML that starts like JSON', '{kind: A}', [['', { kind: 'A' }]]],
    [
      'several documents, numbered including empty ones',
      '--- # nothing\n---\nkind: A\n---\n---\nkind: B\n',
      [
        ['document 2', { kind: 'A' }],
        ['document 4', { kind: 'B' }],
      ],
    ],
    [
      'a List of kubectl',
      'kind: List\napiVersion: v1\nitems: [{kind: A}, {kind: B}]',
      [
        ['item 1', { kind: 'A' }],
        ['item 2', { kind: 'B' }],
      ],
    ],
    [
      'a list of one kind, as returned by the API',
      '{"kind":"MachineConfigList","apiVersion":"g/v1","items":[{"metadata":{"name":"a"}}]}',
      [['item 1', { apiVersion: 'g/v1', kind: 'MachineConfig', metadata: { name: 'a' } }]],
    ],
    ['nothing at all', '', []],
  ])('%s', (_, text, expected) => {
    expect(positionsAndValues(text)).toEqual(expected);
  });

  it.each([
    [
      'text that is neither JSON nor YAML',
      'a: [',
      /^fleet\.yaml, line 1: the indentation does not match the lines above, or a bracket/,
    ],
    [
      'aliases that expand to far more than the file',
      bomb(),
      /^fleet\.yaml, line 1: its YAML aliases expand to too much/,
    ],
    ['deep nesting', '['.repeat(20_000), /^fleet\.yaml(, line \d+: |: it is nested too deeply)/],
  ])('of %s are refused', (_, text, message) => {
    expect(listProblems(text)).toMatchObject([{ message: expect.stringMatching(message) }]);
  });

  it('are read although another document of the file cannot be', () => {
    const text = 'kind: A\n---\n\ta: 1\n---\nkind: C\n';
    expect(positionsAndValues(text)).toEqual([
      ['document 1', { kind: 'A' }],
      ['document 3', { kind: 'C' }],
    ]);
    expect(listProblems(text)).toMatchObject([{ message: expect.stringMatching(/^fleet\.yaml, line 3: /) }]);
  });
});

const LIST = `# all of them
kind: List
items:
  - kind: A
    spec:
      files:
        - path: /a
          mode: 1
        - path: /b
          mode: 2
      labels:
        a.b/c: x
---
kind: B
`;

describe('the place of a field', () => {
  const places = (text: string, field: string) =>
    parseDocuments('x.yaml', text).documents.map((document) => placeOf(document, field));

  it.each([
    ['', ['x.yaml, line 4', 'x.yaml, line 14']],
    ['kind', ['x.yaml, line 4', 'x.yaml, line 14']],
    ['spec', ['x.yaml, line 5', 'x.yaml, line 14']],
    ['spec.files[1].mode', ['x.yaml, line 10', 'x.yaml, line 14']],
    ['spec.files[1]', ['x.yaml, line 9', 'x.yaml, line 14']],
    ['spec.labels["a.b/c"]', ['x.yaml, line 12', 'x.yaml, line 14']],
    ['spec.files[1].contents.source', ['x.yaml, line 9', 'x.yaml, line 14']],
    ['spec.files[7]', ['x.yaml, line 6', 'x.yaml, line 14']],
  ])('%j is its line, or that of the closest parent', (field, expected) => {
    expect(places(LIST, field)).toEqual(expected);
  });

  it.each([
    ['with Windows line ends', LIST.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\uFEFF${LIST}`],
  ])('is the same in a file %s', (_, text) => {
    expect(places(text, 'spec.files[1].mode')[0]).toBe('x.yaml, line 10');
  });

  it('is found in JSON, and through an alias', () => {
    const json = JSON.stringify({ kind: 'A', spec: { files: [{ mode: 1 }, { mode: 2 }] } }, null, 2);
    expect(places(json, 'spec.files[1].mode')).toEqual(['x.yaml, line 9']);
    expect(places('a: &a\n  b: 1\nspec: *a\n', 'spec.b')).toEqual(['x.yaml, line 2']);
  });

  it('is the position in a file that is too large to find lines in', () => {
    const large = `{"kind":"List","items":[{"kind":"A","data":"${'x'.repeat(5 * 1024 * 1024)}"}]}`;
    expect(places(large, 'data')).toEqual(['x.yaml, item 1']);
  });
});

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i += 1)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return lines.join('\n');
}

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'manifests-'));
  await mkdir(join(dir, 'pools/more'), { recursive: true });
  await mkdir(join(dir, '.git'));
  for (const file of ['b.yaml', 'a.json', 'notes.md', 'pools/w.yml', 'pools/more/x.yaml', '.git/y.yaml']) {
    await writeFile(join(dir, file), '');
  }
  await symlink(dir, join(dir, 'pools/back'));
  await symlink(join(dir, 'b.yaml'), join(dir, 'same.yaml'));
});
afterAll(() => rm(dir, { recursive: true }));

const found = async (...paths: string[]) =>
  (await findManifestFiles(paths.map((path) => (path === '-' ? path : join(dir, path))))).map((file) =>
    file === '-' ? file : relative(dir, file),
  );

describe('the files of -f', () => {
  it('are all manifests below a directory, sorted, without hidden ones, and links are followed once', async () => {
    expect(await found('.')).toEqual(['a.json', 'b.yaml', 'pools/more/x.yaml', 'pools/w.yml']);
  });

  it('are named files, whatever their extension', async () => {
    expect(await found('notes.md', '-', 'b.yaml')).toEqual(['notes.md', '-', 'b.yaml']);
  });

  it('are read once each, even if named twice', async () => {
    expect(await found('pools/w.yml', 'pools/w.yml', 'pools')).toEqual([
      'pools/w.yml',
      'pools/back/a.json',
      'pools/back/b.yaml',
      'pools/more/x.yaml',
    ]);
  });

  it('must exist', async () => {
    await expect(found('gone.yaml')).rejects.toThrow(/gone\.yaml cannot be read: no such file/);
  });

  it('include stdin at most once', async () => {
    await expect(found('-', '-')).rejects.toThrow(/-f -: expected stdin at most once/);
  });
});
