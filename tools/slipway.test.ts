import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

describe('./slipway', () => {
  let directory: string;
  const command = join(ROOT, 'slipway');
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-link-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('runs from any directory and through symbolic links, and prints only the command’s output', async () => {
    await symlink(command, join(directory, 'first'));
    await symlink('first', join(directory, 'second'));
    const direct = await run(command, ['--help'], { cwd: '/' });
    expect(direct.stdout).toContain('Usage: slipway');
    expect(await run(join(directory, 'second'), ['--help'], { cwd: directory })).toEqual(direct);
    expect(direct.stderr).toBe('');
  });

  it('prints the same as its sources, including all help', async () => {
    const main = join(ROOT, 'packages/slipway/src/main.ts');
    for (const args of [['--help'], ['--version'], ['start', '--help'], ['render', '--help']]) {
      expect(await run(command, args)).toEqual(await run(process.execPath, [main, ...args]));
    }
  });

  it('keeps the exit code of the command', async () => {
    await expect(run(command, ['no-such-command'])).rejects.toMatchObject({ code: 1 });
  });
});

// A miniature clone: the real script and bundler, with a command of two sources.
describe('what ./slipway runs', () => {
  let clone: string;
  const at = (path: string): string => join(clone, path);
  const slipway = async (...args: string[]): Promise<string> => (await run(at('slipway'), args)).stdout.trim();
  const builds = async (): Promise<string[]> =>
    (await readdir(at('dist/cli'))).filter((name) => name.startsWith('build-'));

  async function write(path: string, text: string): Promise<void> {
    await mkdir(dirname(at(path)), { recursive: true });
    await writeFile(at(path), text);
  }
  const writeWord = (word: string): Promise<void> =>
    write('packages/slipway/src/word.ts', `export const word: string = '${word}';\n`);

  beforeEach(async () => {
    clone = await mkdtemp(join(tmpdir(), 'slipway-clone-'));
    await cp(join(ROOT, 'slipway'), at('slipway'));
    for (const name of ['bundle', 'run.ts']) {
      await cp(join(ROOT, 'tools', name), at(join('tools', name)), { recursive: true });
    }
    await write('package.json', '{ "type": "module" }');
    await write('package-lock.json', '{}');
    await write('tools/package.json', '{ "type": "module" }');
    await write(
      'packages/slipway/package.json',
      '{ "name": "@slipway/slipway", "type": "module", "version": "1.2.3" }',
    );
    await write(
      'packages/slipway/src/main.ts',
      `import { createInterface } from 'node:readline';
      import { word } from './word.ts';
      if (process.argv[2] === 'later') {
        console.log('waiting');
        for await (const _ of createInterface(process.stdin)) break;
      }
      const { lazily } = await import('./lazy.ts');
      console.log(word, lazily, process.argv.slice(2).join(' '));`,
    );
    await write(
      'packages/slipway/src/lazy.ts',
      `import packageJson from '../package.json' with { type: 'json' };
      import { resolve } from 'node:path';
      import { fileURLToPath } from 'node:url';
      const places = [resolve(import.meta.dirname, 'beside'), fileURLToPath(new URL('beside', import.meta.url))];
      export const lazily = packageJson.version + (new Set(places).size === 1 ? ' ' + places[0] : ' ?');`,
    );
    await writeWord('first');
    await mkdir(at('node_modules'));
    for (const name of await readdir(join(ROOT, 'node_modules'))) {
      if (name !== '.slipway-setup' && name !== '.cache') {
        await symlink(join(ROOT, 'node_modules', name), at(`node_modules/${name}`));
      }
    }
    await write('node_modules/.slipway-setup', '');
  });
  afterEach(() => rm(clone, { recursive: true }));

  const printed = (word: string, ...args: string[]): string =>
    [word, '1.2.3', at('packages/slipway/src/beside'), ...args].join(' ');

  it('is built from the sources once; files next to a source are still found', async () => {
    expect(await slipway('a', 'b c')).toBe(printed('first', 'a', 'b c'));
    expect(await slipway('again')).toBe(printed('first', 'again'));
    expect(await builds()).toHaveLength(1);
    // Distinguishes it from the sources.
    expect(await readdir(at('dist/cli/current'))).toContain('main.mjs');
  });

  it('is never older than a source, whatever its date', async () => {
    await slipway();
    await writeWord('second');
    await utimes(at('packages/slipway/src/word.ts'), new Date(0), new Date(0));
    expect(await slipway()).toBe(printed('second').trim());
    await rm(at('packages/slipway/src/word.ts'));
    await expect(slipway()).rejects.toMatchObject({ stderr: expect.stringContaining('word.ts') });
    await writeWord('third');
    expect(await slipway()).toBe(printed('third').trim());
    await write(
      'packages/slipway/package.json',
      '{ "name": "@slipway/slipway", "type": "module", "version": "4.5.6" }',
    );
    // Like set-up, which this change would trigger.
    await write('node_modules/.slipway-setup', '');
    expect(await slipway()).toContain('4.5.6');
  });

  it('is consistently one build, also for commands that started before the next one', async () => {
    await slipway();
    const before = await readlink(at('dist/cli/current'));
    const child = spawn(at('slipway'), ['later'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface(child.stdout);
    expect(await once(lines, 'line')).toEqual(['waiting']);
    await writeWord('second');
    expect(await slipway()).toBe(printed('second').trim());
    expect(await readlink(at('dist/cli/current'))).not.toBe(before);
    child.stdin.end('\n');
    expect(await once(lines, 'line')).toEqual([printed('first', 'later')]);
  });

  it('is correct for concurrent commands that find it missing', async () => {
    const all = await Promise.all([1, 2, 3].map((number) => slipway(String(number))));
    expect(all).toEqual([1, 2, 3].map((number) => printed('first', String(number))));
  });

  it('falls back to the sources if nothing can be built, and they report the error', async () => {
    await write('dist', 'no directory');
    expect(await slipway()).toBe(printed('first').trim());
    await rm(at('dist'));
    await write('packages/slipway/src/word.ts', 'export const word = ;');
    await expect(slipway()).rejects.toMatchObject({ stderr: expect.stringContaining('word.ts') });
  });

  it('is removed when newer builds have replaced it', async () => {
    for (let number = 0; number < 8; number += 1) {
      await write(`dist/cli/build-${number}/main.mjs`, '');
      await utimes(at(`dist/cli/build-${number}`), number, number);
    }
    await slipway();
    const current = await readlink(at('dist/cli/current'));
    const newest = ['build-3', 'build-4', 'build-5', 'build-6', 'build-7'];
    expect((await builds()).toSorted()).toEqual([...newest, current].toSorted());
  });
});
