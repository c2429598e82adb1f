import { appendFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentProgress } from '../controlplane/progress.ts';
import { CONTENTS, standInApt } from '../debian/testing/stand-in-apt.ts';
import { resolveBuilt } from './build.ts';

// A stand-in for the real go, which takes minutes: needs the static library, like that, and records every build.
const GO = `#!/bin/sh
echo "$*" >>"$GO_LOG"
[ -z "$GO_ERROR" ] || { echo "$GO_ERROR" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
cp "\${CGO_LDFLAGS#-L}/libblkid.a" "$2"
`;

describe('the Ignition client that is built', () => {
  let directory: string;
  let env: NodeJS.ProcessEnv;
  const builds = async () => (await readFile(join(directory, 'go.log'), 'utf8')).trim().split('\n');
  const resolve = (change: NodeJS.ProcessEnv = {}) =>
    resolveBuilt({ env: { ...env, ...change }, progress: silentProgress });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-ignition-client-'));
    env = { ...(await standInApt(directory)), GO_LOG: join(directory, 'go.log') };
    await writeFile(join(directory, 'bin', 'go'), GO, { mode: 0o755 });
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is the pinned version, with that version inside, and is built once', async () => {
    const [first] = await Promise.all([resolve(), resolve()]);
    expect(await resolve()).toEqual(first);
    expect(first.version).toBe('2.24.0');
    expect(await readFile(first.path, 'utf8')).toBe(CONTENTS);
    expect(await builds()).toEqual([expect.stringContaining('version.Raw=v2.24.0')]);
  });

  it('is rebuilt if it is damaged', async () => {
    const { path } = await resolve();
    await appendFile(path, 'x');
    await resolve();
    expect(await readFile(path, 'utf8')).toBe(CONTENTS);
  });

  it('that cannot be built reports why and leaves nothing behind', async () => {
    await expect(resolve({ GO_ERROR: 'gcc: not found' })).rejects.toMatchObject({
      code: 'SLW_TOOLS_BUILD_FAILED',
      message: expect.stringMatching(/C compiler[^]*gcc: not found/),
    });
    expect(await readdir(join(directory, 'cache', 'slipway'))).not.toContainEqual(expect.stringMatching(/unfinished/));
    await rm(join(directory, 'bin', 'go'));
    await expect(resolve()).rejects.toMatchObject({ code: 'SLW_TOOLS_NO_GO' });
  });
});
