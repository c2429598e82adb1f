import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleDaemon } from './bundle.ts';

const kube = resolve(import.meta.dirname, '../../packages/kube/src/index.ts');
const api = resolve(import.meta.dirname, '../../packages/api/src/index.ts');

describe('the bundle of a program', () => {
  let directory: string;
  const entryOf = async (source: string): Promise<string> => {
    const entry = join(directory, 'entry.ts');
    await writeFile(entry, source);
    return entry;
  };
  const bundle = async (source: string) =>
    bundleDaemon({ entry: await entryOf(source), directory: join(directory, 'out') });
  const run = async (path: string) => (await promisify(execFile)(process.execPath, [path], { cwd: '/' })).stdout;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-bundle-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is one file that runs where there is nothing but Node', async () => {
    const { path } = await bundle(`
      import { createTransport } from '${kube}';
      import { machineConfigs } from '${api}';
      console.log(typeof createTransport, machineConfigs.plural satisfies string);
    `);
    expect(await run(path)).toBe('function machineconfigs\n');
    expect(await readdir(join(directory, 'out'))).toEqual(['slipway-daemon.mjs']);
  });

  it('leaves out the schemas of the kinds that a program only names', async () => {
    const { bytes } = await bundle(`import { machineConfigs } from '${api}'; console.log(machineConfigs.plural);`);
    expect(bytes).toBeLessThan(50_000);
  });

  it('is the newest of runs at the same time, and nothing else is left', async () => {
    const entry = await entryOf('console.log("here");');
    const made = await Promise.all([1, 2, 3].map(() => bundleDaemon({ entry, directory: join(directory, 'out') })));
    expect(await run(made[0]?.path ?? '')).toBe('here\n');
    expect(await readdir(join(directory, 'out'))).toEqual(['slipway-daemon.mjs']);
  });

  it('is refused where an import leads nowhere', async () => {
    await expect(bundle(`import { x } from 'no-such-package'; console.log(x);`)).rejects.toThrow(/no-such-package/);
  });
});
