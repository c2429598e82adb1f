import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { run } from '../run.ts';
import { cacheDirectory, type Cached, cacheRoot, inspectCached, makeOnce, storeCached } from './cache.ts';
import { ToolsError } from './errors.ts';
import { buildPrograms, readPins } from './go.ts';
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

/** An explicit choice is used or refused, never skipped; programs missing from the directory are found elsewhere. */
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
      `KUBEBUILDER_ASSETS is ${directory}, which is not a directory: correct or unset it`,
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
    progress.note(`${path} is skipped: it ${verdict.reason}`);
  }
  return undefined;
}

async function judge(name: ProgramName, path: string): Promise<Verdict> {
  try {
    return judgeVersion(name, await run(path, programs[name].versionArgs, { timeoutMs: 10_000 }));
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

/** Returns the cache directory, which now contains the programs. */
async function fromCache(names: readonly ProgramName[], env: NodeJS.ProcessEnv, progress: Progress): Promise<string> {
  const { pins, flags } = await readPins();
  const directory = cacheDirectory(cacheRoot(env, process.platform, homedir()), [...pins, ...flags]);
  const findMissing = () => listMissing(names, directory);
  await makeOnce(directory, {
    doing: 'is building the control plane',
    progress,
    isThere: async () => (await findMissing()).length === 0,
    async make(temporary) {
      // Another run may have built some of them.
      const missing = await findMissing();
      for (const { name, state } of missing) {
        if (state === 'damaged') progress.note(`${join(directory, name)} is damaged or incomplete; rebuilding it`);
      }
      const wanted = missing.map(({ name }) => name);
      await buildPrograms(wanted, temporary, { flags, env, progress });
      for (const name of wanted) await storeCached(join(temporary, name), directory);
    },
  });
  return directory;
}

async function listMissing(
  names: readonly ProgramName[],
  directory: string,
): Promise<{ name: ProgramName; state: Cached }[]> {
  const all = await Promise.all(
    names.map(async (name) => ({ name, state: await inspectCached(join(directory, name)) })),
  );
  return all.filter(({ state }) => state !== 'good');
}
