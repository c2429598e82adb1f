import { appendFile, mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Progress } from '../controlplane/progress.ts';
import { unpackDebian } from './debian.ts';
import { CONTENTS, standInApt } from './testing/stand-in-apt.ts';

describe('programs from Debian packages', () => {
  let directory: string;
  let env: NodeJS.ProcessEnv;
  let notes: string[];
  let progress: Progress;
  const readAptCalls = async () =>
    (await readFile(join(directory, 'apt.log'), 'utf8').catch(() => '')).trim().split('\n');
  const unpack = (change: NodeJS.ProcessEnv = {}) =>
    unpackDebian([{ name: 'it', least: [1, 5, 0] }], { env: { ...env, ...change }, progress });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-debian-'));
    notes = [];
    progress = { note: (line) => notes.push(line), update: (line) => notes.push(line), clear: () => {} };
    env = await standInApt(directory);
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('are unpacked once, and then taken from the cache without apt', async () => {
    const first = await unpack();
    expect(await readFile(join(first.directory, 'usr/bin/it'), 'utf8')).toBe(CONTENTS);
    expect(first.versions).toEqual({ it: '2:2.38.1-1' });
    expect(first.libraryPath).toContain(join(first.directory, 'usr/lib/any-linux-gnu'));
    expect(await unpack({ LISTS: '' })).toEqual(first);
    expect(await readAptCalls()).toEqual(['offer', 'download']);
    expect(await readdir(dirname(first.directory))).not.toContainEqual(expect.stringContaining('unfinished'));
  });

  it('are fetched once by concurrent runs', async () => {
    await Promise.all([unpack(), unpack(), unpack()]);
    expect(await readAptCalls()).toEqual(['offer', 'download']);
    expect(notes).toContainEqual(expect.stringMatching(/^waiting for process \d+, which fetches Debian packages/));
  });

  it('use private lists if the machine has none', async () => {
    await unpack({ LISTS: '' });
    expect(await readAptCalls()).toEqual(['offer', 'update private', 'offer private', 'download private']);
  });

  it('use private lists if the archive has dropped the version in the machine’s lists', async () => {
    await unpack({ STALE: 'yes' });
    expect(await readAptCalls()).toEqual(['offer', 'download', 'update private', 'offer private', 'download private']);
  });

  it('are fetched again if they are damaged or a run was killed', async () => {
    const first = await unpack();
    await appendFile(join(first.directory, 'usr/bin/it'), 'x');
    await mkdir(`${first.directory}.unpacking-old`);
    await unpack();
    await appendFile(`${first.directory}.json`, '}');
    await unpack();
    expect(await readAptCalls()).toEqual(['offer', 'download', 'offer', 'download', 'offer', 'download']);
    expect(await readFile(join(first.directory, 'usr/bin/it'), 'utf8')).toBe(CONTENTS);
    expect(await readdir(dirname(first.directory))).not.toContainEqual(expect.stringContaining('unfinished'));
  });

  it.each([
    ['other bytes than the signed index states', { BYTES: 'something else' }, /expected SHA-256 .* from the index/],
    ['a version that is too old', { VERSION: '1.4.9-1' }, /version 1\.5\.0 or newer is needed, apt offers 1\.4\.9-1/],
    ['a package that no list has', { VERSION: 'x_../../x' }, /apt offers no version of it/],
  ])('are refused, with nothing left behind: %s', async (_, change, message) => {
    await expect(unpack(change)).rejects.toMatchObject({
      code: 'SLW_TOOLS_PACKAGE',
      message: expect.stringMatching(message),
    });
    const left = await readdir(join(directory, 'cache', 'slipway'));
    expect(left.filter((name) => !name.includes('.lock'))).toEqual([]);
  });

  it('are not available without apt', async () => {
    await rm(join(directory, 'bin', 'apt-cache'));
    await expect(unpack({ PATH: join(directory, 'bin') })).rejects.toMatchObject({ code: 'SLW_TOOLS_NO_APT' });
  });
});
