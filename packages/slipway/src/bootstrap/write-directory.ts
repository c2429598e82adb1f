import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandError } from '../cli/errors.ts';

/** Contents by path relative to the directory. */
export type DirectoryContents = ReadonlyMap<string, string>;

/** It contains keys and tokens, so other users may not even list it. */
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

/** Fails early where `writeDirectory` would fail in the end. */
export async function refuseFull(out: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(out);
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return;
    throw unusable(out, error);
  }
  if (names.length > 0) throw notEmpty(out);
}

/**
 * Creates the directory atomically: writes everything to a temporary directory next to it, then renames that. An
 * existing directory must be empty.
 */
export async function writeDirectory(out: string, contents: DirectoryContents): Promise<void> {
  const target = resolve(out);
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(dirname(target), { recursive: true });
    await mkdir(draft, { mode: PRIVATE_DIRECTORY });
    for (const [path, text] of contents) await writePrivate(join(draft, path), text);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(readErrorCode(error)) ? notEmpty(out) : unusable(out, error);
  }
}

async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY });
  const file = await open(path, 'wx', PRIVATE_FILE);
  try {
    await file.writeFile(text);
    // The contents must reach the disk before the rename.
    await file.sync();
  } finally {
    await file.close();
  }
}

const readErrorCode = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

function notEmpty(out: string): CommandError {
  return new CommandError(
    'SLW_CLI_OUT',
    `--out ${out}: expected an empty or new directory, found files in it. Choose another one; add --keep-from ${out} to reuse its CA and tokens`,
  );
}

function unusable(out: string, error: unknown): CommandError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CommandError(
    'SLW_CLI_OUT',
    `--out ${out} cannot be written: ${reason}. Choose a directory that you can write`,
    {
      cause: error,
    },
  );
}
