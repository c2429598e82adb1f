import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findManifestFiles } from './find-files.ts';

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

describe('the files that -f means', () => {
  it('are all manifests below a directory by name, hidden ones left out, links followed once', async () => {
    expect(await found('.')).toEqual(['a.json', 'b.yaml', 'pools/more/x.yaml', 'pools/w.yml']);
  });

  it('are files as they are, whatever they are called', async () => {
    expect(await found('notes.md', '-', 'b.yaml')).toEqual(['notes.md', '-', 'b.yaml']);
  });

  it('are each one once, however often they are reached', async () => {
    expect(await found('pools/w.yml', 'pools/w.yml', 'pools')).toEqual([
      'pools/w.yml',
      'pools/back/a.json',
      'pools/back/b.yaml',
      'pools/more/x.yaml',
    ]);
  });

  it('must exist', async () => {
    await expect(found('gone.yaml')).rejects.toThrow(/gone\.yaml cannot be read: there is no such file/);
  });

  it('have one stdin', async () => {
    await expect(found('-', '-')).rejects.toThrow(/-f - reads stdin and can be given once/);
  });
});
