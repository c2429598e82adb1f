import { appendFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveBinaries } from './binaries.ts';
import type { Progress } from './progress.ts';

// A stand-in for the real go, which takes minutes: responds like it, and records every build.
const GO = (version: string) => `#!/bin/sh
case $1 in
env) echo '{"GOVERSION":"go${version}","GOCACHE":"/","GOMODCACHE":"/"}' ;;
list) echo runtime; echo main ;;
build)
  echo build >>"$GO_LOG"
  [ -z "$GO_ERROR" ] || { echo "$GO_ERROR" >&2; exit 1; }
  echo runtime >&2
  for arg; do case $arg in -o=*) out=\${arg#-o=} ;; esac; done
  for arg; do
    case $arg in
    k8s.io/*) name=\${arg##*/} ;;
    go.etcd.io/*) name=server ;;
    *) continue ;;
    esac
    echo $name >>"$GO_LOG"
    echo "$name, built" >"$out$name"
  done ;;
esac
`;

describe('where the programs come from', () => {
  let directory: string;
  let notes: string[];
  let env: NodeJS.ProcessEnv;
  let progress: Progress;
  const onPath = (name: string, content: string) => writeFile(join(directory, 'bin', name), content, { mode: 0o755 });
  const buildEchoScript = (text: string) => `#!/bin/sh\necho '${text}'\n`;
  const built = async () => (await readFile(join(directory, 'go.log'), 'utf8').catch(() => '')).trim().split(/\s+/);

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-binaries-'));
    notes = [];
    progress = { note: (line) => notes.push(line), update: (line) => notes.push(line), clear: () => {} };
    for (const name of ['bin', 'assets']) await mkdir(join(directory, name));
    env = {
      PATH: join(directory, 'bin'),
      XDG_CACHE_HOME: join(directory, 'cache'),
      GO_LOG: join(directory, 'go.log'),
    };
    await onPath('go', GO('1.26.1'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('KUBEBUILDER_ASSETS comes first', async () => {
    await onPath('etcd', buildEchoScript('etcd Version: 3.6.8'));
    const assets = join(directory, 'assets');
    await writeFile(join(assets, 'etcd'), buildEchoScript('etcd Version: 3.6.1'), { mode: 0o755 });
    const found = await resolveBinaries(['etcd'], { env: { ...env, KUBEBUILDER_ASSETS: assets }, progress });
    expect(found).toEqual({ etcd: join(assets, 'etcd') });
  });

  it('programs missing from KUBEBUILDER_ASSETS are found elsewhere', async () => {
    await onPath('kubectl', buildEchoScript('Client Version: v1.33.0'));
    const found = await resolveBinaries(['kubectl'], {
      env: { ...env, KUBEBUILDER_ASSETS: join(directory, 'assets') },
      progress,
    });
    expect(found).toEqual({ kubectl: join(directory, 'bin', 'kubectl') });
  });

  it('KUBEBUILDER_ASSETS with a program that is too old, or that is not a directory, is refused', async () => {
    const assets = join(directory, 'assets');
    await writeFile(join(assets, 'kube-apiserver'), buildEchoScript('Kubernetes v1.28.0'), { mode: 0o755 });
    await expect(
      resolveBinaries(['kube-apiserver'], { env: { ...env, KUBEBUILDER_ASSETS: assets }, progress }),
    ).rejects.toMatchObject({ code: 'SLW_TOOLS_ASSETS', message: expect.stringContaining('is version 1.28.0') });
    await expect(
      resolveBinaries(['etcd'], { env: { ...env, KUBEBUILDER_ASSETS: join(directory, 'none') }, progress }),
    ).rejects.toMatchObject({ code: 'SLW_TOOLS_ASSETS', message: expect.stringContaining('is not a directory') });
  });

  it('PATH comes next, and nothing is built', async () => {
    await onPath('etcd', buildEchoScript('etcd Version: 3.5.21'));
    expect(await resolveBinaries(['etcd'], { env, progress })).toEqual({ etcd: join(directory, 'bin', 'etcd') });
    expect(await built()).toEqual(['']);
  });

  it('a program on PATH that is too old or does not run is skipped, with the reason', async () => {
    await onPath('etcd', buildEchoScript('etcd Version: 3.4.23'));
    await onPath('kube-apiserver', '#!/bin/sh\nexit 3\n');
    const found = await resolveBinaries(['etcd', 'kube-apiserver'], { env, progress });
    expect(dirname(found.etcd)).toContain(join(directory, 'cache', 'slipway', 'controlplane-'));
    expect(notes[0]).toBe(
      `${join(directory, 'bin', 'etcd')} is skipped: it is version 3.4.23; 3.5.13 or newer is required`,
    );
    expect(notes[1]).toContain('kube-apiserver is skipped: it does not run');
  });

  it('else they are built once, and only those that are missing', async () => {
    const first = await resolveBinaries(['etcd', 'kube-apiserver'], { env, progress });
    expect(await readFile(first.etcd, 'utf8')).toBe('server, built\n');
    await resolveBinaries(['etcd', 'kube-apiserver'], { env, progress });
    await resolveBinaries(['etcd', 'kube-apiserver', 'kube-controller-manager'], { env, progress });
    expect(await built()).toEqual(['build', 'server', 'kube-apiserver', 'build', 'kube-controller-manager']);
    expect(await readdir(dirname(dirname(first.etcd)))).not.toContainEqual(expect.stringContaining('unfinished'));
  });

  it('two concurrent runs build once', async () => {
    await Promise.all([1, 2, 3].map(() => resolveBinaries(['etcd'], { env, progress })));
    expect(await built()).toEqual(['build', 'server']);
    expect(notes).toContainEqual(expect.stringMatching(/^waiting for process \d+, which is building/));
  });

  it('a damaged program is rebuilt, and so is the output of a killed build', async () => {
    const { etcd } = await resolveBinaries(['etcd'], { env, progress });
    await appendFile(etcd, 'x');
    await mkdir(`${dirname(etcd)}.unfinished-old`);
    await resolveBinaries(['etcd'], { env, progress });
    expect(await readFile(etcd, 'utf8')).toBe('server, built\n');
    expect(notes).toContain(`${etcd} is damaged or incomplete; rebuilding it`);
    expect(await readdir(dirname(dirname(etcd)))).not.toContainEqual(expect.stringContaining('unfinished'));
  });

  it('a failed build reports why and leaves nothing behind', async () => {
    const failing = { ...env, GO_ERROR: 'main.go:1: it is broken' };
    await expect(resolveBinaries(['etcd'], { env: failing, progress })).rejects.toMatchObject({
      code: 'SLW_TOOLS_BUILD_FAILED',
      message: expect.stringContaining('main.go:1: it is broken'),
    });
    const full = { ...env, GO_ERROR: 'write /x: no space left on device' };
    await expect(resolveBinaries(['etcd'], { env: full, progress })).rejects.toMatchObject({
      code: 'SLW_TOOLS_DISK_FULL',
    });
    const left = await readdir(join(directory, 'cache', 'slipway'));
    expect(left.filter((name) => !name.includes('.lock'))).toEqual([]);
    await expect(resolveBinaries(['etcd'], { env, progress })).resolves.toBeDefined();
  });

  it('without Go, or with an old one, the error lists what to do', async () => {
    await onPath('go', GO('1.25.3'));
    await expect(resolveBinaries(['etcd'], { env, progress })).rejects.toMatchObject({ code: 'SLW_TOOLS_OLD_GO' });
    await rm(join(directory, 'bin', 'go'));
    await expect(resolveBinaries(['etcd'], { env, progress })).rejects.toMatchObject({
      code: 'SLW_TOOLS_NO_GO',
      message: expect.stringMatching(/install Go 1\.26.*KUBEBUILDER_ASSETS.*PATH/),
    });
  });
});
