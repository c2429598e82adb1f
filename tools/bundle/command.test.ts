import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleCommand } from './command.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('the built command', () => {
  let directory: string;
  let build: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-command-'));
    build = await bundleCommand(ROOT, directory);
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('has a small entry that loads each command on demand', async () => {
    const sizes = await Promise.all(
      (await readdir(build)).map(async (name) => (await readFile(join(build, name))).length),
    );
    const entry = (await readFile(join(build, 'main.mjs'))).length;
    expect(entry).toBeLessThan(300_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(10 * entry);
  });

  it('has chunks that all load from any directory', async () => {
    const chunks = (await readdir(build)).filter((name) => name.endsWith('.mjs') && name !== 'main.mjs');
    const program = `for (const path of ${JSON.stringify(chunks.map((name) => join(build, name)))}) await import(path);
      console.log('loaded');`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: '/',
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'loaded\n', stderr: '' });
  });

  it('lists its inputs', async () => {
    const inputs = (await readFile(join(build, 'inputs'), 'utf8')).trim().split('\n');
    expect(inputs).toEqual(
      expect.arrayContaining([
        'packages/slipway/src/main.ts',
        'packages/slipway/package.json',
        'packages/kube/src/index.ts',
        'tools/controlplane/index.ts',
        'tools/bundle/command.ts',
        'node_modules/.package-lock.json',
      ]),
    );
    expect(inputs.filter((path) => path.endsWith('.test.ts') || path.startsWith('..'))).toEqual([]);
  });
});
