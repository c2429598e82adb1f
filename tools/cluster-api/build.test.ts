import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentProgress } from '../controlplane/progress.ts';
import { resolveClusterApi } from './build.ts';

// A stand-in for the real go, which takes minutes: writes the package that it is to build, and lists modules.
const GO = `#!/bin/sh
echo "$CGO_ENABLED $GOFLAGS $*" >>"$GO_LOG"
if [ "$1" = list ]; then
  for module; do :; done
  echo "$MODULES/$module"
  exit 0
fi
[ -z "$GO_ERROR" ] || { echo "$GO_ERROR" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
echo "$3" >"$2"
`;

describe('the Cluster API that is built', () => {
  let directory: string;
  let env: NodeJS.ProcessEnv;
  const resolve = (change: NodeJS.ProcessEnv = {}) =>
    resolveClusterApi({ env: { ...env, ...change }, progress: silentProgress });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-cluster-api-build-'));
    const modules = join(directory, 'modules');
    for (const config of ['cluster-api/config', 'cluster-api/test/infrastructure/docker/config']) {
      const root = join(modules, 'sigs.k8s.io', config);
      for (const folder of ['crd/bases', 'webhook']) await mkdir(join(root, folder), { recursive: true });
      await writeFile(join(root, 'crd/bases/b.yaml'), `crd: b of ${config}\n`);
      await writeFile(join(root, 'crd/bases/a.yaml'), `crd: a of ${config}\n`);
      await writeFile(join(root, 'webhook/manifests.yaml'), `webhooks: ${config}\n`);
    }
    const programs = join(directory, 'bin');
    await mkdir(programs);
    await writeFile(join(programs, 'go'), GO, { mode: 0o755 });
    env = {
      PATH: `${programs}:/usr/bin:/bin`,
      XDG_CACHE_HOME: join(directory, 'cache'),
      GO_LOG: join(directory, 'go.log'),
      MODULES: modules,
    };
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is the pinned version with its own manifests, built once by concurrent runs', async () => {
    const [found] = await Promise.all([resolve(), resolve()]);
    expect(await resolve()).toEqual(found);
    expect(found.version).toBe('1.13.0');
    expect(await readFile(found.core.path, 'utf8')).toBe('sigs.k8s.io/cluster-api\n');
    expect(await readFile(found.infrastructure.path, 'utf8')).toBe(
      'sigs.k8s.io/cluster-api/test/infrastructure/docker\n',
    );
    expect((await readFile(found.core.manifests, 'utf8')).split('\n---\n').map((text) => text.trim())).toEqual([
      'crd: a of cluster-api/config',
      'crd: b of cluster-api/config',
      'webhooks: cluster-api/config',
    ]);
    const calls = (await readFile(join(directory, 'go.log'), 'utf8')).trim().split('\n');
    expect(calls.map((call) => call.split(' ').slice(0, 3).join(' '))).toEqual(
      ['build', 'list', 'build', 'list'].map((command) => `0 -mod=readonly ${command}`),
    );
  });

  it('that cannot be built reports why and leaves nothing behind', async () => {
    await expect(resolve({ GO_ERROR: 'no required module provides package' })).rejects.toMatchObject({
      code: 'SLW_TOOLS_BUILD_FAILED',
      message: expect.stringContaining('no required module provides package'),
    });
    expect(await readdir(join(directory, 'cache', 'slipway'))).not.toContainEqual(expect.stringMatching(/unfinished/));
  });
});
