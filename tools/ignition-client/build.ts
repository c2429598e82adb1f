import { createHash } from 'node:crypto';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPath, inspectCached, makeOnce, storeCached } from '../controlplane/cache.ts';
import { showStep, terminalProgress } from '../controlplane/progress.ts';
import { unpackDebian, type DebianOptions } from '../debian/debian.ts';
import { buildWithGo, goEnvironment, type GoProgram } from '../go.ts';

const SOURCES = import.meta.dirname;
const MODULE = 'github.com/coreos/ignition/v2';
const PROGRAM: GoProgram = { name: 'the Ignition client', least: '1.26', needs: 'a C compiler' };

/** The client in the version that go.mod pins, with sources verified by go.sum. */
export async function resolveBuilt({ progress = terminalProgress(), env = process.env }: DebianOptions = {}): Promise<{
  path: string;
  version: string;
}> {
  const pins = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(join(SOURCES, name), 'utf8')));
  const [, version = ''] = /^\s*github\.com\/coreos\/ignition\/v2 v(\S+)/m.exec(pins[0] ?? '') ?? [];
  const stamp = `-ldflags=-s -w -X ${MODULE}/internal/version.Raw=v${version}`;
  // The second contains the build flags.
  const key = createHash('sha256').update(JSON.stringify([pins, ['-trimpath', stamp]]));
  const directory = cachedPath(env, `ignition-client-${key.digest('hex').slice(0, 12)}`);
  const path = join(directory, 'ignition');
  await makeOnce(directory, {
    doing: 'is building the Ignition client',
    progress,
    isThere: async () => (await inspectCached(path)) === 'good',
    async make(temporary) {
      const blkid = await prepareBlkid(temporary, { progress, env });
      const built = join(temporary, 'ignition');
      const step = {
        doing: 'building the Ignition client (about 4 CPU-minutes, once)',
        done: `built the Ignition client ${version}`,
      };
      await showStep(progress, step, (tell) =>
        buildWithGo(PROGRAM, [stamp, '-o', built, `${MODULE}/internal`], {
          cwd: SOURCES,
          env: { ...goEnvironment(env, '1'), ...blkid },
          tell,
        }),
      );
      await storeCached(built, directory);
    },
  });
  return { path, version };
}

/** A directory with the static library only: the linker would prefer the shared one, which is not installed here. */
async function prepareBlkid(temporary: string, options: DebianOptions): Promise<NodeJS.ProcessEnv> {
  const { directory, libraryPath } = await unpackDebian([{ name: 'libblkid-dev', least: [2, 19, 0] }], options);
  const places = libraryPath.split(':');
  for (const place of places) {
    await copyFile(join(place, 'libblkid.a'), join(temporary, 'libblkid.a')).catch(() => undefined);
  }
  return { CGO_CFLAGS: `-O2 -I${join(directory, 'usr/include')}`, CGO_LDFLAGS: `-L${temporary}` };
}
