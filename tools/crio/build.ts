import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { formatClock } from '../controlplane/build-progress.ts';
import { cacheRoot, inspectCached, storeCached } from '../controlplane/cache.ts';
import { ToolsError } from '../controlplane/errors.ts';
import { waitForLock } from '../controlplane/lock.ts';
import { terminalProgress, type Progress } from '../controlplane/progress.ts';
import type { DebianOptions } from '../debian/debian.ts';

const SOURCES = import.meta.dirname;
const MODULE = 'github.com/cri-o/cri-o';
const CRICTL = 'sigs.k8s.io/cri-tools';
const NAMES = ['crio', 'pinns', 'crictl'] as const;

/** Signatures are checked in Go, and none of the stores is there that would need libraries of C. */
const TAGS = [
  'containers_image_openpgp',
  'containers_image_ostree_stub',
  'exclude_graphdriver_btrfs',
  'exclude_graphdriver_devicemapper',
];

/** CRI-O, what it holds namespaces with, and the command that speaks to it. Plain data. */
export interface CrioPrograms {
  /** Of CRI-O: 1.34.0. */
  version: string;
  crio: string;
  pinns: string;
  crictl: string;
}

/** From the versions that the go.mod files pin, whose go.sum says what their sources must be; once, into the user's cache. */
export async function resolveCrio({
  progress = terminalProgress(),
  env = process.env,
}: DebianOptions = {}): Promise<CrioPrograms> {
  const files = ['go.mod', 'go.sum', 'crictl/go.mod', 'crictl/go.sum'];
  const pins = await Promise.all(files.map((name) => readFile(join(SOURCES, name), 'utf8')));
  const recipe: Recipe = { crictl: versionOf(CRICTL, pins[2]), env, progress };
  const key = createHash('sha256').update(JSON.stringify([pins, TAGS, compileArguments('', ''), process.arch]));
  const root = join(cacheRoot(env, process.platform, homedir()), 'slipway');
  const directory = join(root, `crio-${key.digest('hex').slice(0, 12)}`);
  if (!(await isComplete(directory))) {
    await mkdir(root, { recursive: true });
    const lock = await waitForLock(`${directory}.lock`, 'is building CRI-O', progress);
    try {
      if (!(await isComplete(directory))) await build(directory, recipe);
    } finally {
      lock.release();
    }
  }
  const [crio, pinns, crictl] = NAMES.map((name) => join(directory, name)) as [string, string, string];
  return { version: versionOf(MODULE, pins[0]), crio, pinns, crictl };
}

interface Recipe extends Required<DebianOptions> {
  /** The version that crictl says it is. */
  crictl: string;
}

function versionOf(module: string, goMod = ''): string {
  const [, version = ''] = new RegExp(String.raw`^(?:require)?\s*${module} v(\S+)`, 'm').exec(goMod) ?? [];
  return version;
}

async function isComplete(directory: string): Promise<boolean> {
  const states = await Promise.all(NAMES.map((name) => inspectCached(join(directory, name))));
  return states.every((state) => state === 'good');
}

async function build(directory: string, recipe: Recipe): Promise<void> {
  const { progress } = recipe;
  // What killed builds left beside; we hold the lock, so nobody is writing there.
  for (const name of await readdir(dirname(directory))) {
    if (!name.startsWith(`${basename(directory)}.building-`)) continue;
    await rm(join(dirname(directory), name), { recursive: true, force: true });
  }
  const temporary = await mkdtemp(`${directory}.building-`);
  try {
    const started = Date.now();
    progress.note('building CRI-O once from the pins in tools/crio (about 10 minutes on 2 cores)');
    await buildAll(temporary, recipe);
    for (const name of NAMES) await storeCached(join(temporary, name), directory);
    progress.note(`built CRI-O in ${formatClock(Date.now() - started)} min, kept in ${directory}`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function buildAll(temporary: string, { crictl, env, progress }: Recipe): Promise<void> {
  const flags = ['build', '-v', '-trimpath'];
  const out = (name: string) => ['-o', join(temporary, name)];
  // The store of images enters namespaces of users by a little C.
  const withC = goEnvironment(env, '1');
  const crioArguments = ['-ldflags=-s -w', `-tags=${TAGS.join()}`, ...out('crio'), `${MODULE}/cmd/crio`];
  await runGo([...flags, ...crioArguments], { cwd: SOURCES, env: withC, progress });
  await compilePinns(join(temporary, 'pinns'), withC);
  const stamp = `-ldflags=-s -w -X ${CRICTL}/pkg/version.Version=v${crictl}`;
  const place = { cwd: join(SOURCES, 'crictl'), env: goEnvironment(env, '0'), progress };
  await runGo([...flags, stamp, ...out('crictl'), `${CRICTL}/cmd/crictl`], place);
}

/** Nothing that the user has set for other projects may change what is built. */
function goEnvironment(env: NodeJS.ProcessEnv, cgo: '0' | '1'): NodeJS.ProcessEnv {
  return {
    ...env,
    GOFLAGS: '-mod=readonly',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
    GOOS: '',
    GOARCH: '',
    CGO_ENABLED: cgo,
  };
}

interface Place {
  cwd: string;
  env: NodeJS.ProcessEnv;
  progress: Progress;
}

async function runGo(args: readonly string[], { cwd, env, progress }: Place): Promise<void> {
  const child = spawn('nice', ['go', ...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const what = basename(args.at(-1) ?? '');
  const started = Date.now();
  const lines: string[] = [];
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  const say = () => progress.update(`building ${what}: ${lines.length} packages, ${formatClock(Date.now() - started)}`);
  const clock = setInterval(say, 1000);
  const [code, signal] = await once(child, 'close').finally(() => {
    clearInterval(clock);
    progress.clear();
  });
  if (code !== 0) throw buildError(lines, signal === null ? `exit code ${String(code)}` : String(signal));
}

/** As CRI-O's own Makefile does: one static program of three files. */
const COMPILE = ['-std=c99', '-Os', '-Wall', '-Wextra', '-static', '-s'];
const compileArguments = (sources: string, path: string): string[] => {
  const files = ['pinns.c', 'sysctl.c'].map((name) => join(sources, 'pinns/src', name));
  return [...COMPILE, ...files, '-o', path];
};

async function compilePinns(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const run = promisify(execFile);
  try {
    const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', MODULE], { cwd: SOURCES, env });
    await run('cc', compileArguments(stdout.trim(), path), { env });
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw buildError(said.split('\n'), 'the C compiler, for pinns');
  }
}

function buildError(lines: readonly string[], end: string): ToolsError {
  const said = lines.slice(-5).map((line) => `  ${line.slice(0, 400)}`);
  // What `nice` says, and its exit code, when it does not find the program.
  if (end === 'exit code 127') {
    return new ToolsError(
      'SLW_TOOLS_NO_GO',
      'CRI-O has to be built and there is no Go on PATH: install Go 1.26.2 or newer and a C compiler',
    );
  }
  const needs = 'It needs Go 1.26.2 or newer, a C compiler with a static C library, and the Go module proxy';
  return new ToolsError(
    'SLW_TOOLS_BUILD_FAILED',
    [`building CRI-O failed: it ended with ${end}. ${needs}`, ...said].join('\n'),
  );
}
