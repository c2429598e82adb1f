import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory, cacheRoot, inspectCached, storeCached } from './cache.ts';
import { ToolsError } from './errors.ts';
import { buildPrograms, readPins, type BuildOptions } from './go.ts';
import { waitForLock } from './lock.ts';
import { judgeVersion, programs, type ProgramName, type Verdict } from './programs.ts';
import { terminalProgress, type Progress } from './progress.ts';

export interface ResolveOptions {
  progress?: Progress;
  env?: NodeJS.ProcessEnv;
}

/** The path of each program: from KUBEBUILDER_ASSETS, else PATH, else the cache, else built into the cache now. */
export async function resolveBinaries<Name extends ProgramName>(
  names: readonly Name[],
  { progress = terminalProgress(), env = process.env }: ResolveOptions = {},
): Promise<Record<Name, string>> {
  const found: [Name, string][] = [];
  const rest: Name[] = [];
  for (const name of names) {
    const path = (await fromAssets(name, env)) ?? (await fromPath(name, env, progress));
    if (path === undefined) rest.push(name);
    else found.push([name, path]);
  }
  if (rest.length > 0) {
    const directory = await fromCache(rest, env, progress);
    found.push(...rest.map((name): [Name, string] => [name, join(directory, name)]));
  }
  return Object.fromEntries(found) as Record<Name, string>;
}

/** An explicit choice is taken or refused, never passed over; what the directory does not have comes from elsewhere. */
async function fromAssets(name: ProgramName, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const directory = env['KUBEBUILDER_ASSETS'];
  if (directory === undefined || directory === '') return undefined;
  const isDirectory = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isDirectory) {
    throw new ToolsError(
      'SLW_TOOLS_ASSETS',
      `KUBEBUILDER_ASSETS is ${directory}, which is no directory: correct or unset it`,
    );
  }
  const path = join(directory, name);
  if (!(await isExecutable(path))) return undefined;
  const verdict = await judge(name, path);
  if (verdict.ok) return path;
  throw new ToolsError(
    'SLW_TOOLS_ASSETS',
    `KUBEBUILDER_ASSETS: ${path} ${verdict.reason}: point it to newer programs or unset it`,
  );
}

async function fromPath(name: ProgramName, env: NodeJS.ProcessEnv, progress: Progress): Promise<string | undefined> {
  for (const directory of (env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory, name);
    if (directory === '' || !(await isExecutable(path))) continue;
    const verdict = await judge(name, path);
    if (verdict.ok) return path;
    progress.note(`${path} is passed over: it ${verdict.reason}`);
  }
  return undefined;
}

async function judge(name: ProgramName, path: string): Promise<Verdict> {
  try {
    const { stdout } = await promisify(execFile)(path, [...programs[name].versionArgs], { timeout: 10_000 });
    return judgeVersion(name, stdout);
  } catch (error) {
    return {
      ok: false,
      reason: `does not run (${error instanceof Error ? error.message.split('\n', 1)[0] : String(error)})`,
    };
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The directory of the cache, in which the programs now are. */
async function fromCache(names: readonly ProgramName[], env: NodeJS.ProcessEnv, progress: Progress): Promise<string> {
  const { pins, flags } = await readPins();
  const directory = cacheDirectory(cacheRoot(env, process.platform, homedir()), [...pins, ...flags]);
  if ((await missing(names, directory)).length === 0) return directory;
  await mkdir(dirname(directory), { recursive: true });
  const lock = await waitForLock(`${directory}.lock`, 'is building the control plane', progress);
  try {
    await build(names, directory, { flags, env, progress });
  } finally {
    lock.release();
  }
  return directory;
}

async function missing(names: readonly ProgramName[], directory: string, progress?: Progress): Promise<ProgramName[]> {
  const states = await Promise.all(names.map((name) => inspectCached(join(directory, name))));
  for (const [index, name] of names.entries()) {
    if (states[index] === 'damaged')
      progress?.note(`${join(directory, name)} is damaged or unfinished and is built anew`);
  }
  return names.filter((_, index) => states[index] !== 'good');
}

/** Looks again under the lock: another run may have built what was missing. */
async function build(wanted: readonly ProgramName[], directory: string, options: BuildOptions): Promise<void> {
  const { progress } = options;
  const names = await missing(wanted, directory, progress);
  if (names.length === 0) return;
  await removeUnfinished(directory);
  const temporary = await mkdtemp(`${directory}.building-`);
  try {
    const started = Date.now();
    await buildPrograms(names, temporary, options);
    for (const name of names) await storeCached(join(temporary, name), directory);
    progress.note(`built ${names.join(', ')} in ${Math.round((Date.now() - started) / 1000)} s, kept in ${directory}`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** What killed builds left beside; we hold the lock, so nobody is writing there. */
async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(dirname(directory))) {
    if (!name.startsWith(`${basename(directory)}.building-`)) continue;
    await rm(join(dirname(directory), name), { recursive: true, force: true });
  }
}
