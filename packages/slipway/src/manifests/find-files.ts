import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { CommandError } from '../cli/errors.ts';

/** What a directory of manifests may have; far more than a fleet needs, and an end for a path given by mistake. */
const MAX_FILES = 10_000;
const MAX_DEPTH = 16;
const MANIFEST_EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** The stdin of the command, as users write it. */
export const STDIN = '-';

/**
 * The files that `-f` means, in the order of the flags and then by name: a file as it is, a directory with all .yaml,
 * .yml and .json files below it. Hidden files and directories are left out; a file that is reached twice counts once.
 */
export async function findManifestFiles(paths: readonly string[]): Promise<string[]> {
  if (paths.filter((path) => path === STDIN).length > 1) {
    throw new CommandError('SLW_CLI_MANIFEST', '-f - reads stdin and can be given once');
  }
  const found = new Found();
  for (const path of paths) {
    if (path === STDIN) found.add(STDIN, STDIN);
    else if ((await look(path)).isDirectory()) await walk(path, 0, found);
    else found.add(path, await realpath(path));
  }
  return found.files;
}

class Found {
  readonly files: string[] = [];
  readonly #seen = new Set<string>();

  /** False when it was there already. */
  isNew(real: string): boolean {
    if (this.#seen.has(real)) return false;
    this.#seen.add(real);
    return true;
  }

  add(file: string, real: string): void {
    if (!this.isNew(real)) return;
    if (this.files.length >= MAX_FILES) {
      throw new CommandError(
        'SLW_CLI_MANIFEST',
        `there are more than ${MAX_FILES} manifest files; give a directory with the fleet’s manifests alone`,
      );
    }
    this.files.push(file);
  }
}

async function walk(directory: string, depth: number, found: Found): Promise<void> {
  // A link may lead back up.
  if (!found.isNew(await realpath(directory))) return;
  if (depth > MAX_DEPTH) {
    throw new CommandError(
      'SLW_CLI_MANIFEST',
      `${directory}: directories of manifests may be ${MAX_DEPTH} deep; give -f a directory further down`,
    );
  }
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.')).sort();
  for (const name of names) {
    const path = join(directory, name);
    const entry = await look(path);
    if (entry.isDirectory()) await walk(path, depth + 1, found);
    else if (entry.isFile() && MANIFEST_EXTENSIONS.has(extname(name))) found.add(path, await realpath(path));
  }
}

async function look(path: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    throw new CommandError('SLW_CLI_MANIFEST', `${path} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ELOOP: 'its links lead in a circle',
};

/** Why the system refused, in words. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
  return reasons[code] ?? code;
}
