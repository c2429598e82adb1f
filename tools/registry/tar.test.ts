import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTar, type LayerFile } from './tar.ts';

describe('a layer', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-tar-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  async function unpack(files: readonly LayerFile[]): Promise<void> {
    const tar = spawn('tar', ['-x', '-C', directory], { stdio: ['pipe', 'ignore', 'inherit'] });
    const ended = once(tar, 'close');
    await pipeline(Readable.from(buildTar(files), { objectMode: false }), tar.stdin);
    expect(await ended).toEqual([0, null]);
  }

  it('is an archive that tar unpacks: files with their directories, links, and whiteouts', async () => {
    await unpack([
      { path: 'release-manifests/image-references', contents: '{}' },
      { path: 'release-manifests/exactly-a-block', contents: 'x'.repeat(512) },
      { path: 'empty', contents: '' },
      { path: 'link', symlink: 'empty' },
      { path: 'etc/old', whiteout: true },
      { path: 'var/lib', opaque: true },
    ]);
    expect((await readdir(directory, { recursive: true })).sort()).toEqual([
      'empty',
      'etc',
      'etc/.wh.old',
      'link',
      'release-manifests',
      'release-manifests/exactly-a-block',
      'release-manifests/image-references',
      'var',
      'var/lib',
      'var/lib/.wh..wh..opq',
    ]);
    expect(await readFile(join(directory, 'release-manifests/image-references'), 'utf8')).toBe('{}');
    expect(await readFile(join(directory, 'release-manifests/exactly-a-block'), 'utf8')).toBe('x'.repeat(512));
    expect(await readlink(join(directory, 'link'))).toBe('empty');
    expect((await stat(join(directory, 'empty'))).mode & 0o777).toBe(0o644);
  });

  it('has the requested incompressible bytes, the same each time and different for another path', async () => {
    await unpack([
      { path: 'a', randomBytes: 2_500_001 },
      { path: 'b', randomBytes: 2_500_001 },
    ]);
    const [a, b] = await Promise.all(['a', 'b'].map((name) => readFile(join(directory, name))));
    expect(a).toHaveLength(2_500_001);
    expect(gzipSync(a ?? '', { level: 1 }).length).toBeGreaterThan(2_500_000);
    expect(b?.equals(a ?? Buffer.alloc(0))).toBe(false);
    await unpack([{ path: 'a', randomBytes: 2_500_001 }]);
    expect((await readFile(join(directory, 'a'))).equals(a ?? Buffer.alloc(0))).toBe(true);
  });

  it('comes in pieces of at most 1 MiB', () => {
    const sizes = [...buildTar([{ path: 'a', randomBytes: 3_000_000 }])].map(({ length }) => length);
    expect(Math.max(...sizes)).toBe(1 << 20);
  });

  it('is refused when a path does not fit its header', () => {
    expect(() => [...buildTar([{ path: 'x'.repeat(101), contents: '' }])]).toThrow(/at most 100 bytes/);
  });
});
