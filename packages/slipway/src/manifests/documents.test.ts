import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDocuments, findManifestFiles } from './documents.ts';

const placesAndValues = (text: string) => parseDocuments('fleet.yaml', text).map(({ place, value }) => [place, value]);

describe('the documents of a manifest file', () => {
  it.each<[string, string, [string, unknown][]]>([
    ['one document of YAML', 'kind: A\n', [['fleet.yaml', { kind: 'A' }]]],
    ['JSON', '{"kind":"A"}', [['fleet.yaml', { kind: 'A' }]]],
    ['YAML that starts like JSON', '{kind: A}', [['fleet.yaml', { kind: 'A' }]]],
    [
      'several documents, numbered including empty ones',
      '--- # nothing\n---\nkind: A\n---\n---\nkind: B\n',
      [
        ['fleet.yaml, document 2', { kind: 'A' }],
        ['fleet.yaml, document 4', { kind: 'B' }],
      ],
    ],
    [
      'a List of kubectl',
      'kind: List\napiVersion: v1\nitems: [{kind: A}, {kind: B}]',
      [
        ['fleet.yaml, item 1', { kind: 'A' }],
        ['fleet.yaml, item 2', { kind: 'B' }],
      ],
    ],
    [
      'a list of one kind, as returned by the API',
      '{"kind":"MachineConfigList","apiVersion":"g/v1","items":[{"metadata":{"name":"a"}}]}',
      [['fleet.yaml, item 1', { apiVersion: 'g/v1', kind: 'MachineConfig', metadata: { name: 'a' } }]],
    ],
    ['nothing at all', '', []],
  ])('%s', (_, text, expected) => {
    expect(placesAndValues(text)).toEqual(expected);
  });

  it.each([
    ['text that is neither JSON nor YAML', 'a: [', /^fleet\.yaml, line 1, column \d+: /],
    ['aliases that expand to far more than the file', bomb(), /^fleet\.yaml: its YAML aliases expand to too much/],
    ['deep nesting', '['.repeat(20_000), /^fleet\.yaml(, line \d+| is nested too deeply)/],
  ])('of %s are refused', (_, text, message) => {
    expect(() => parseDocuments('fleet.yaml', text)).toThrow(message);
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
