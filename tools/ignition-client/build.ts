import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createHash } from 'node:crypto';
import { formatClock } from '../controlplane/build-progress.ts';
import { cacheRoot, inspectCached, storeCached } from '../controlplane/cache.ts';
import { ToolsError } from '../controlplane/errors.ts';
import { waitForLock } from '../controlplane/lock.ts';
import { terminalProgress, type Progress } from '../controlplane/progress.ts';
import { unpackDebian, type DebianOptions } from '../debian/debian.ts';

const SOURCES = import.meta.dirname;
const MODULE = 'github.com/coreos/ignition/v2';

/** The client of the version that go.mod pins; go.sum says what its sources must be. */
export async function resolveBuilt({ progress = terminalProgress(), env = process.env }: DebianOptions = {}): Promise<{
  path: string;
  version: string;
}> {
  const pins = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(join(SOURCES, name), 'utf8')));
  const [, version = ''] = /^\s*github\.com\/coreos\/ignition\/v2 v(\S+)/m.exec(pins[0] ?? '') ?? [];
  const flags = ['-trimpath', `-ldflags=-s -w -X ${MODULE}/internal/version.Raw=v${version}`];
  const key = createHash('sha256').update(JSON.stringify([pins, flags]));
  const root = join(cacheRoot(env, process.platform, homedir()), 'slipway');
  const directory = join(root, `ignition-client-${key.digest('hex').slice(0, 12)}`);
  const path = join(directory, 'ignition');
  if ((await inspectCached(path)) === 'good') return { path, version };
  await mkdir(root, { recursive: true });
  const lock = await waitForLock(`${directory}.lock`, 'is building the Ignition client', progress);
  try {
    if ((await inspectCached(path)) !== 'good') await build(directory, flags, { progress, env });
  } finally {
    lock.release();
  }
  return { path, version };
}

async function build(directory: string, flags: readonly string[], { progress, env }: Required<DebianOptions>) {
  for (const name of await readdir(dirname(directory))) {
    if (!name.startsWith(`${basename(directory)}.building-`)) continue;
    await rm(join(dirname(directory), name), { recursive: true, force: true });
  }
  const temporary = await mkdtemp(`${directory}.building-`);
  try {
    const started = Date.now();
    progress.note('building the Ignition client once from the pins in tools/ignition-client (about 4 CPU-minutes)');
    const blkid = await prepareBlkid(temporary, { progress, env });
    const built = join(temporary, 'ignition');
    const args = ['build', '-v', ...flags, '-o', built, `${MODULE}/internal`];
    await runGo(args, { ...goEnvironment(env), ...blkid }, progress);
    await storeCached(built, directory);
    progress.note(`built the Ignition client in ${formatClock(Date.now() - started)} min, kept in ${directory}`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The static library alone in a directory: the linker would prefer the shared one, which is not installed here. */
async function prepareBlkid(temporary: string, options: DebianOptions): Promise<NodeJS.ProcessEnv> {
  const { directory, libraryPath } = await unpackDebian([{ name: 'libblkid-dev', least: [2, 19, 0] }], options);
  const places = libraryPath.split(':');
  for (const place of places) {
    await copyFile(join(place, 'libblkid.a'), join(temporary, 'libblkid.a')).catch(() => undefined);
  }
  return { CGO_CFLAGS: `-O2 -I${join(directory, 'usr/include')}`, CGO_LDFLAGS: `-L${temporary}` };
}

/** Nothing that the user has set for other projects may change what is built. */
function goEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...env,
    GOFLAGS: '-mod=readonly',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
    GOOS: '',
    GOARCH: '',
    CGO_ENABLED: '1',
  };
}

async function runGo(args: readonly string[], env: NodeJS.ProcessEnv, progress: Progress): Promise<void> {
  const child = spawn('nice', ['go', ...args], { cwd: SOURCES, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const started = Date.now();
  const lines: string[] = [];
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  const say = () =>
    progress.update(`building the Ignition client: ${lines.length} packages, ${formatClock(Date.now() - started)}`);
  const clock = setInterval(say, 1000);
  const [code, signal] = await once(child, 'close').finally(() => {
    clearInterval(clock);
    progress.clear();
  });
  if (code !== 0) throw buildError(lines, signal === null ? `exit code ${String(code)}` : String(signal));
}

function buildError(lines: readonly string[], end: string): ToolsError {
  const said = lines.slice(-5).map((line) => `  ${line.slice(0, 400)}`);
  // What `nice` says, and its exit code, when it does not find the program.
  if (end === 'exit code 127') {
    return new ToolsError(
      'SLW_TOOLS_NO_GO',
      'the Ignition client has to be built and there is no Go on PATH: install Go 1.26 or newer and a C compiler',
    );
  }
  const needs = 'It needs Go 1.26 or newer, a C compiler, and the Go module proxy';
  return new ToolsError(
    'SLW_TOOLS_BUILD_FAILED',
    [`building the Ignition client failed: go build ended with ${end}. ${needs}`, ...said].join('\n'),
  );
}
