import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentProgress } from '../controlplane/progress.ts';
import { standInApt } from '../debian/testing/stand-in-apt.ts';
import { resolveNodeImage } from './image.ts';

// A stand-in for perl with mmdebstrap, which takes half a minute and root: creates a tree, and records every call.
const PERL = `#!/bin/sh
echo "$*" >>"$PERL_LOG"
[ -z "$PERL_ERROR" ] || { echo "E: $PERL_ERROR" >&2; exit 1; }
while [ $# -gt 1 ]; do shift; done
mkdir -p "$1/etc" "$1/usr/share/doc/it" "$1/usr/lib/systemd/system-preset"
echo 0123 >"$1/etc/machine-id"
`;

describe('the disk image of test nodes', () => {
  let directory: string;
  let env: NodeJS.ProcessEnv;
  const calls = async () => (await readFile(join(directory, 'perl.log'), 'utf8')).trim().split('\n');
  const resolve = (change: NodeJS.ProcessEnv = {}) =>
    resolveNodeImage({ env: { ...env, ...change }, progress: silentProgress });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-node-image-'));
    env = { ...(await standInApt(directory)), PERL_LOG: join(directory, 'perl.log') };
    await writeFile(join(directory, 'bin', 'perl'), PERL, { mode: 0o755 });
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is of the pinned suite, and created once by concurrent runs', async () => {
    const [first] = await Promise.all([resolve(), resolve()]);
    expect(await resolve()).toEqual(first);
    expect(await calls()).toEqual([expect.stringMatching(/--include=systemd,\S+ trixie \S+$/)]);
  });

  it('has not booted yet, and starts nothing by default', async () => {
    const { directory: root } = await resolve();
    expect(existsSync(join(root, 'etc/machine-id'))).toBe(false);
    expect(existsSync(join(root, 'usr/share/doc'))).toBe(false);
    const presets = join(root, 'usr/lib/systemd/system-preset');
    expect(await readFile(join(presets, '99-default-disable.preset'), 'utf8')).toBe('disable *\n');
  });

  it('that cannot be created reports why and leaves nothing behind', async () => {
    await expect(resolve({ PERL_ERROR: 'no way to the archive' })).rejects.toMatchObject({
      code: 'SLW_TOOLS_BUILD_FAILED',
      message: expect.stringContaining('no way to the archive'),
    });
    const left = await readdir(join(directory, 'cache', 'slipway'));
    expect(left).not.toContainEqual(expect.stringMatching(/^node-image.*(unfinished|[0-9a-f]{12}$)/));
  });
});
