import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { cachedPath, makeOnce } from '../controlplane/cache.ts';
import { ToolsError } from '../controlplane/errors.ts';
import { showStep, terminalProgress, type Progress } from '../controlplane/progress.ts';
import { sumTree } from '../debian/tree.ts';
import { run, RunError } from '../run.ts';
import { findPython, type Python } from './python.ts';

const SOURCES = import.meta.dirname;
const INSTALL_MS = 600_000;

/** Ironic and the Redfish emulator, with their Python, in the user's cache. */
export interface IronicProgram {
  python: string;
  /** The environment's commands; each is run as `python bin/NAME`. */
  bin: string;
  env: Readonly<Record<string, string>>;
  /** Where the first Ironic stores its empty database, for reuse by the next. */
  emptyDatabase: string;
}

export interface EnvironmentOptions {
  progress?: Progress;
  env?: NodeJS.ProcessEnv;
}

// Checking ten thousand files takes a second: a verified installation stays trusted in this process.
const foundGood = new Set<string>();

/**
 * Installs the versions that requirements.lock pins, from wheels with known hashes: no compiler, nothing installed on
 * the machine, and no network from the second time on.
 */
export async function resolveIronic({
  progress = terminalProgress(),
  env = process.env,
}: EnvironmentOptions = {}): Promise<IronicProgram> {
  const python = await findPython(env);
  const pins = await Promise.all(['requirements.lock', 'uv.lock'].map((name) => readFile(join(SOURCES, name), 'utf8')));
  const key = createHash('sha256').update(JSON.stringify([pins, python.path, python.version, process.arch]));
  const directory = cachedPath(env, `ironic-${key.digest('hex').slice(0, 12)}`);
  const program = programIn(directory);
  if (foundGood.has(directory)) return program;
  await makeOnce(directory, {
    doing: 'installs Ironic',
    progress,
    isThere: () => isGood(directory),
    async make(temporary) {
      const step = {
        doing: 'installing Ironic and a Redfish emulator (about 200 MB, once)',
        done: 'installed Ironic and a Redfish emulator',
      };
      await showStep(progress, step, () => install(directory, temporary, { python, env }));
    },
  });
  foundGood.add(directory);
  return program;
}

function programIn(directory: string): IronicProgram {
  return {
    python: join(directory, 'bin/python'),
    bin: join(directory, 'bin'),
    // Compiled files go to another directory: the verified files stay unchanged.
    env: { PYTHONPYCACHEPREFIX: `${directory}.compiled`, PYTHONNOUSERSITE: '1', PYTHONWARNINGS: 'ignore' },
    emptyDatabase: `${directory}.sqlite`,
  };
}

interface Manifest {
  /** Over the contents. */
  sum: string;
  /** Over names, sizes and times, at the last verification of the contents: 200 MB are not read at every start. */
  touched: string;
}

const getManifestPath = (directory: string) => `${directory}.json`;

async function isGood(directory: string): Promise<boolean> {
  try {
    const manifest = JSON.parse(await readFile(getManifestPath(directory), 'utf8')) as Manifest;
    const touched = await lastTouches(directory);
    if (manifest.touched === touched) return true;
    if (manifest.sum !== (await sumTree(directory))) return false;
    await writeManifest(directory, { ...manifest, touched });
    return true;
  } catch {
    // Absent or unreadable: install it.
    return false;
  }
}

async function lastTouches(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const lines = await Promise.all(
    files.map(async (file) => {
      const { ino, size, ctimeMs } = await stat(file);
      return `${file} ${ino} ${size} ${ctimeMs}`;
    }),
  );
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex');
}

async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const temporary = `${getManifestPath(directory)}.${process.pid}.tmp`;
  await writeFile(temporary, JSON.stringify(manifest));
  await rename(temporary, getManifestPath(directory));
}

interface Installer {
  readonly python: Python;
  readonly env: NodeJS.ProcessEnv;
}

async function install(directory: string, temporary: string, { python, env }: Installer): Promise<void> {
  const tree = join(temporary, 'tree');
  const uv = await findUv(temporary, python, env);
  await runInstaller(uv, ['venv', '--quiet', '--python', python.path, tree], env);
  const sync = ['pip', 'sync', '--quiet', '--require-hashes', '--only-binary', ':all:'];
  // A hard link into uv's cache would change when that is cleaned or written to.
  const into = ['--link-mode', 'copy', '--python', join(tree, 'bin/python'), join(SOURCES, 'requirements.lock')];
  await runInstaller(uv, [...sync, ...into], env);
  await rm(getManifestPath(directory), { force: true });
  await rm(directory, { recursive: true, force: true });
  for (const made of ['.compiled', '.sqlite']) await rm(`${directory}${made}`, { recursive: true, force: true });
  await rename(tree, directory);
  await writeManifest(directory, { sum: await sumTree(directory), touched: await lastTouches(directory) });
}

/** The machine's uv, else the pinned one, for this installation only. */
async function findUv(temporary: string, python: Python, env: NodeJS.ProcessEnv): Promise<string> {
  const own = await run('uv', ['--version'], { env }).catch(() => undefined);
  if (own !== undefined) return 'uv';
  const place = join(temporary, 'uv');
  await runInstaller(python.path, ['-m', 'venv', place], env);
  const args = ['install', '--quiet', '--disable-pip-version-check', '--require-hashes', '--only-binary', ':all:'];
  await runInstaller(join(place, 'bin/pip'), [...args, '-r', join(SOURCES, 'uv.lock')], env);
  return join(place, 'bin/uv');
}

async function runInstaller(path: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await run(path, args, { env, timeoutMs: INSTALL_MS });
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    throw new ToolsError(
      'SLW_TOOLS_PYTHON_PACKAGES',
      `Ironic for tests cannot be installed: ${basename(path)} ${args.slice(0, 2).join(' ')} failed: ${error.said.slice(-1500)}`,
      { cause: error },
    );
  }
}
