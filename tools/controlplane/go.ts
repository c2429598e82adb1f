import { readFile, rename, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goEnvironment } from '../go.ts';
import { run, RunError } from '../run.ts';
import { describeBuild, newBuild, readGoLine, type BuildState } from './build-progress.ts';
import { ToolsError } from './errors.ts';
import { isAtLeast, parseVersion, programs, type ProgramName, type Version } from './programs.ts';
import { type Progress, showStep } from './progress.ts';

const NEEDED: Version = [1, 26, 0];
const NEEDED_BYTES = 4 * 2 ** 30;

const moduleDirectory = fileURLToPath(new URL('.', import.meta.url));

const VERSION_PACKAGE = 'k8s.io/component-base/version';

export interface BuildOptions {
  flags: readonly string[];
  env: NodeJS.ProcessEnv;
  progress: Progress;
}

/** Everything that determines the result of a build: the pinned modules and the flags. */
export async function readPins(): Promise<{ pins: string[]; flags: string[] }> {
  const [goMod, goSum] = await Promise.all([
    readFile(join(moduleDirectory, 'go.mod'), 'utf8'),
    readFile(join(moduleDirectory, 'go.sum'), 'utf8'),
  ]);
  return { pins: [goMod, goSum], flags: buildFlags(goMod) };
}

export function buildFlags(goMod: string): string[] {
  const version = /^\s*(?:require )?k8s\.io\/kubernetes v(\d+)\.(\d+)(\.\S+)/m.exec(goMod);
  if (version === null) throw new Error('tools/controlplane/go.mod does not require k8s.io/kubernetes');
  const [, major, minor, rest] = version;
  const stamps = {
    gitVersion: `v${major}.${minor}${rest}`,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
    gitCommit: 'unknown',
  };
  const stamped = Object.entries(stamps).map(([name, value]) => `-X ${VERSION_PACKAGE}.${name}=${value}`);
  return ['-trimpath', `-ldflags=-s -w ${stamped.join(' ')}`];
}

const REMEDIATIONS =
  'install Go 1.26 or newer; or set KUBEBUILDER_ASSETS to a directory with kube-apiserver and etcd, as `setup-envtest use -p path` prints it; or put kube-apiserver and etcd on PATH';

/** Checks the output of `go env GOVERSION`; undefined means that there is no go. */
export function judgeGo(answer: string | undefined): ToolsError | undefined {
  if (answer === undefined) {
    return new ToolsError(
      'SLW_TOOLS_NO_GO',
      `the control plane must be built, but there is no Go on PATH: ${REMEDIATIONS}`,
    );
  }
  const version = parseVersion(answer.replace(/^go/, ' '));
  if (version !== undefined && isAtLeast(version, NEEDED)) return undefined;
  const found = answer === '' ? 'of an unknown version' : answer.replace(/^go/, '');
  return new ToolsError(
    'SLW_TOOLS_OLD_GO',
    `the control plane must be built with Go 1.26 or newer, but the Go on PATH is ${found}: ${REMEDIATIONS}`,
  );
}

/** Builds the programs into this directory. */
export async function buildPrograms(
  names: readonly ProgramName[],
  directory: string,
  { flags, env, progress }: BuildOptions,
): Promise<void> {
  const goEnv = goEnvironment(env, '0');
  const caches = await checkGo(goEnv);
  await warnOfFullDisk(caches, progress);
  const packages = names.map((name) => programs[name].package);
  const step = {
    doing: `building ${names.join(', ')} (about 5 minutes on 2 cores, once)`,
    done: `built ${names.join(', ')}`,
  };
  await showStep(progress, step, async (tell) => {
    const started = Date.now();
    let state: BuildState = newBuild;
    const isProgress = (line: string) => {
      const next = readGoLine(state, line);
      state = next ?? state;
      tell(describeBuild(state, Date.now() - started));
      return next !== undefined;
    };
    // Listing fetches every source, so that downloads and compilation are separate steps, and reports what is not yet
    // in go's cache. The programs themselves are always listed, because they are not installed anywhere.
    const list = ['list', '-deps', '-trimpath', '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', ...packages];
    const stale = (await runGo(list, goEnv, isProgress)).trim().split(/\s+/).length;
    state = { ...state, phase: 'compile', total: Math.max(0, stale - packages.length) };
    await runGo(['build', '-v', ...flags, `-o=${directory}/`, ...packages], goEnv, isProgress);
  });
  // go names a program after its package's directory, without the major version.
  if (names.includes('etcd')) await rename(join(directory, 'server'), join(directory, 'etcd'));
}

/** The directories of go's caches, if the go on PATH is usable. */
async function checkGo(env: NodeJS.ProcessEnv): Promise<string[]> {
  const answer = await readGoEnv(env);
  const problem = judgeGo(answer?.['GOVERSION']);
  if (problem !== undefined) throw problem;
  return [answer?.['GOCACHE'] ?? '', answer?.['GOMODCACHE'] ?? ''].filter((path) => path.startsWith('/'));
}

async function readGoEnv(env: NodeJS.ProcessEnv): Promise<Record<string, string> | undefined> {
  try {
    // Not in the module's directory, where an older go only reports that it is too old.
    const asked = ['env', '-json', 'GOVERSION', 'GOCACHE', 'GOMODCACHE'];
    return JSON.parse(await run('go', asked, { cwd: tmpdir(), env }));
  } catch {
    return undefined;
  }
}

async function warnOfFullDisk(paths: string[], progress: Progress): Promise<void> {
  for (const path of paths) {
    const free = await freeBytes(path);
    if (free >= NEEDED_BYTES) continue;
    const gigabytes = (free / 2 ** 30).toFixed(1);
    progress.note(`${path} has ${gigabytes} GB free; the first build of the control plane needs about 4 GB there`);
  }
}

async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    // It does not exist yet: check the directory in which it will be created.
    return path === dirname(path) ? Infinity : freeBytes(dirname(path));
  }
}

/** Runs go in the module and returns its standard output; lines that are not progress are kept for the error. */
async function runGo(args: string[], env: NodeJS.ProcessEnv, isProgress: (line: string) => boolean): Promise<string> {
  const rest: string[] = [];
  const onLine = (line: string): void => {
    if (!isProgress(line)) rest.push(line);
  };
  try {
    return await run('go', args, { cwd: moduleDirectory, env, onLine });
  } catch (error) {
    throw error instanceof RunError ? buildError(`go ${args[0]}`, rest, error.end) : error;
  }
}

function buildError(command: string, lines: readonly string[], end: string): ToolsError {
  if (end.startsWith('SIG')) {
    const text = `building the control plane was interrupted (${end}): the next run resumes where this one stopped`;
    return new ToolsError('SLW_TOOLS_BUILD_FAILED', text);
  }
  if (lines.some((line) => line.includes('no space left on device'))) {
    return new ToolsError(
      'SLW_TOOLS_DISK_FULL',
      'the disk is full: the first build of the control plane needs about 4 GB in the caches of Go. Free some space, or set GOCACHE and GOMODCACHE to directories on another disk',
    );
  }
  const last = lines.slice(-5).map((line) => `  ${line.slice(0, 400)}`);
  return new ToolsError(
    'SLW_TOOLS_BUILD_FAILED',
    [`building the control plane failed: ${command} exited with ${end}`, ...last].join('\n'),
  );
}
