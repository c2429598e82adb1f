import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheDirectory, cacheRoot, inspectCached, storeCached } from './cache.ts';

describe('where the cache is', () => {
  it.each<[NodeJS.ProcessEnv, NodeJS.Platform, string]>([
    [{}, 'linux', '/home/ana/.cache'],
    [{}, 'darwin', '/home/ana/Library/Caches'],
    [{ XDG_CACHE_HOME: '/elsewhere' }, 'linux', '/elsewhere'],
    [{ XDG_CACHE_HOME: '/elsewhere' }, 'darwin', '/elsewhere'],
    // The specification requires that a relative path is ignored.
    [{ XDG_CACHE_HOME: 'elsewhere' }, 'linux', '/home/ana/.cache'],
    [{ XDG_CACHE_HOME: '' }, 'linux', '/home/ana/.cache'],
  ])('%j on %s: %s', (env, platform, expected) => {
    expect(cacheRoot(env, platform, '/home/ana')).toBe(expected);
  });

  it('the same pins share a directory, and any change of them starts another', () => {
    const one = cacheDirectory('/c', ['mod', 'sum', '-trimpath']);
    expect(one).toMatch(/^\/c\/slipway\/controlplane-[0-9a-f]{12}$/);
    expect(cacheDirectory('/c', ['mod', 'sum', '-trimpath'])).toBe(one);
    for (const other of [
      ['mo', 'dsum', '-trimpath'],
      ['mod', 'sum'],
      ['mod', 'sum', '-trimpath', ''],
    ]) {
      expect(cacheDirectory('/c', other)).not.toBe(one);
    }
  });
});

describe('a program in the cache', () => {
  let directory: string;
  const path = () => join(directory, 'kept', 'etcd');
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-cache-'));
    await writeFile(join(directory, 'etcd'), 'the program', { mode: 0o755 });
    await storeCached(join(directory, 'etcd'), join(directory, 'kept'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is good as it was stored', async () => {
    expect(await inspectCached(path())).toBe('good');
    expect(await readFile(path(), 'utf8')).toBe('the program');
  });

  it('is noticed when it was cut short', async () => {
    await truncate(path(), 5);
    expect(await inspectCached(path())).toBe('damaged');
  });

  it('is noticed when a byte changed', async () => {
    await writeFile(path(), 'the Program');
    expect(await inspectCached(path())).toBe('damaged');
  });

  it('is noticed when it changed after it was found good', async () => {
    expect(await inspectCached(path())).toBe('good');
    await writeFile(path(), 'another program');
    expect(await inspectCached(path())).toBe('damaged');
  });

  it('is noticed when its sum was never written', async () => {
    await rm(`${path()}.sum`);
    expect(await inspectCached(path())).toBe('damaged');
  });

  it('is noticed when the program is gone', async () => {
    await rm(path());
    expect(await inspectCached(path())).toBe('damaged');
    await rm(`${path()}.sum`);
    expect(await inspectCached(path())).toBe('absent');
  });
});
