import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentProgress } from '../controlplane/progress.ts';
import { resolveCrio } from './build.ts';

// Stand-ins for the real go and cc, which take minutes: they record their arguments, and write the requested files.
const GO = `#!/bin/sh
echo "$CGO_ENABLED $*" >>"$GO_LOG"
[ "$1" != list ] || { echo /modules/cri-o; exit 0; }
[ -z "$GO_ERROR" ] || { echo "$GO_ERROR" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
echo "$3" >"$2"
`;
const CC = `#!/bin/sh
echo "cc $*" >>"$GO_LOG"
[ -z "$CC_ERROR" ] || { echo "$CC_ERROR" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
echo pinns >"$2"
`;

describe('the CRI-O that is built', () => {
  let directory: string;
  let env: NodeJS.ProcessEnv;
  const calls = async () => (await readFile(join(directory, 'go.log'), 'utf8')).trim().split('\n');
  const resolve = (change: NodeJS.ProcessEnv = {}) =>
    resolveCrio({ env: { ...env, ...change }, progress: silentProgress });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-crio-build-'));
    const programs = join(directory, 'bin');
    await mkdir(programs);
    for (const [name, script] of Object.entries({ go: GO, cc: CC })) {
      await writeFile(join(programs, name), script, { mode: 0o755 });
    }
    env = {
      PATH: `${programs}:/usr/bin:/bin`,
      XDG_CACHE_HOME: join(directory, 'cache'),
      GO_LOG: join(directory, 'go.log'),
    };
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is the complete pinned version, built once by concurrent runs', async () => {
    const [first] = await Promise.all([resolve(), resolve()]);
    expect(await resolve()).toEqual(first);
    expect(first.version).toBe('1.34.0');
    expect(await readFile(first.crio, 'utf8')).toBe('github.com/cri-o/cri-o/cmd/crio\n');
    expect(await readFile(first.pinns, 'utf8')).toBe('pinns\n');
    expect(await readFile(first.crictl, 'utf8')).toBe('sigs.k8s.io/cri-tools/cmd/crictl\n');
    expect(await calls()).toEqual([
      expect.stringMatching(/^1 build .*containers_image_openpgp.* -o \S+ github.com\/cri-o\/cri-o\/cmd\/crio$/),
      '1 list -m -f {{.Dir}} github.com/cri-o/cri-o',
      expect.stringMatching(/^cc .*-static.* \/modules\/cri-o\/pinns\/src\/pinns.c /),
      expect.stringMatching(/^0 build .*pkg\/version.Version=v1.36.0 -o \S+ sigs.k8s.io\/cri-tools\/cmd\/crictl$/),
    ]);
  });

  it('is rebuilt if a part of it is damaged', async () => {
    const { pinns } = await resolve();
    await appendFile(pinns, 'x');
    await resolve();
    expect(await readFile(pinns, 'utf8')).toBe('pinns\n');
  });

  it.each([
    ['GO_ERROR', 'no required module provides package'],
    ['CC_ERROR', 'cannot find -lc'],
  ])('that cannot be built reports why and leaves nothing behind: %s', async (name, said) => {
    await expect(resolve({ [name]: said })).rejects.toMatchObject({
      code: 'SLW_TOOLS_BUILD_FAILED',
      message: expect.stringMatching(new RegExp(`C compiler[^]*${said}`)),
    });
    expect(await readdir(join(directory, 'cache', 'slipway'))).not.toContainEqual(expect.stringMatching(/unfinished/));
  });

  it('without Go reports what to install', async () => {
    await rm(join(directory, 'bin', 'go'));
    await expect(resolve()).rejects.toMatchObject({ code: 'SLW_TOOLS_NO_GO' });
  });
});
