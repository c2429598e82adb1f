import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readlink, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { run } from '../run.ts';
import { inAscii, refuseUnresolved } from './bundle.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Number of builds to keep: a program that runs from an older one may still load parts of it. */
const KEPT_BUILDS = 5;

/**
 * Builds the slipway command of this clone as JavaScript: an entry, and chunks that are loaded on demand. Stripping the
 * types of some hundred sources, and finding each, takes two thirds of the time of a short command; a single file would
 * be read completely by every command and save nothing.
 *
 * Each build has a separate directory with everything that `./slipway` checks; `current` is a link, replaced
 * atomically:
 * - `main.mjs`, the entry;
 * - `stamp`, from before the first source was read;
 * - `inputs`, every file that can affect the result, by its path from the root.
 */
export async function bundleCommand(root = ROOT, directory = join(root, 'dist/cli')): Promise<string> {
  await mkdir(directory, { recursive: true });
  const build = await mkdtemp(join(directory, 'build-'));
  try {
    await writeFile(join(build, 'stamp'), '');
    const inputs = await writeChunks(root, build);
    await writeFile(join(build, 'inputs'), [...inputs, ''].join('\n'));
    await replaceLink(build, join(directory, 'current'));
  } catch (error) {
    await rm(build, { recursive: true, force: true });
    throw error;
  }
  await removeOldBuilds(directory);
  return build;
}

/** The entry of an up-to-date build: `./slipway` checks that. */
export async function resolveCommand(): Promise<string> {
  await run(join(ROOT, 'slipway'), ['--version']);
  return realpath(join(ROOT, 'dist/cli/current/main.mjs'));
}

/** Returns the project files that it read. */
async function writeChunks(root: string, build: string): Promise<string[]> {
  const read = new Set<string>();
  const isOwn = (id: string): boolean => ['packages', 'tools'].some((name) => id.startsWith(join(root, name, '/')));
  const bundler = await rolldown({
    input: join(root, 'packages/slipway/src/main.ts'),
    platform: 'node',
    onLog: refuseUnresolved,
    // Slipway's modules have no side effects: unused exports are dropped.
    treeshake: { moduleSideEffects: (id) => !isOwn(id) },
    plugins: [atSourcePaths(build, isOwn, (id) => read.add(relative(root, id)))],
  });
  try {
    // Not minified, for line numbers in stacks; minified code would load no faster.
    const { output } = await bundler.generate({
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
    });
    for (const chunk of output) {
      if (chunk.type === 'chunk') await writeFile(join(build, chunk.fileName), inAscii(chunk.code));
    }
  } finally {
    await bundler.close();
  }
  // Files that determine import paths, packages and the build itself.
  const rest = [
    'packages/*/package.json',
    'tools/package.json',
    'tools/bundle/*.ts',
    'tools/run.ts',
    'node_modules/.package-lock.json',
  ];
  for (const path of rest.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
    if (!path.endsWith('.test.ts')) read.add(path);
  }
  return [...read].toSorted();
}

/** Sources that locate a file relative to themselves must find it next to the source, not next to the chunk. */
function atSourcePaths(build: string, isOwn: (id: string) => boolean, onRead: (id: string) => void): Plugin {
  return {
    name: 'at-source-paths',
    transform(code, id) {
      if (!isOwn(id)) return null;
      onRead(id);
      if (!code.includes('import.meta.')) return null;
      // Relative, because a clone may be moved.
      const text = (path: string): string => JSON.stringify(relative(build, path));
      return code
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/' + ${text(dirname(id))})`)
        .replaceAll('import.meta.filename', `(import.meta.dirname + '/' + ${text(id)})`)
        .replaceAll('import.meta.url', `new URL(${text(id)}, import.meta.url).href`)
        .replaceAll('import.meta.main', 'false');
    },
  };
}

async function replaceLink(target: string, path: string): Promise<void> {
  const temporary = `${target}.link`;
  await symlink(relative(dirname(path), target), temporary);
  await rename(temporary, path);
}

/** Also removes the unfinished output of killed runs. */
async function removeOldBuilds(directory: string): Promise<void> {
  const current = await readlink(join(directory, 'current'));
  const names = (await readdir(directory)).filter((name) => name.startsWith('build-') && name !== current);
  const ages = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(directory, name)).catch(() => undefined);
      return { name, at: found?.mtimeMs ?? 0 };
    }),
  );
  for (const { name } of ages.toSorted((a, b) => b.at - a.at).slice(KEPT_BUILDS)) {
    await rm(join(directory, name), { recursive: true, force: true });
  }
}
