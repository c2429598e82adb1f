// Finds and reads the files that `-f` names.
import { createReadStream, type Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { CommandError } from '../cli/errors.ts';
import { describeSystemError } from '../cli/io.ts';
import { whyBytesRefused } from './foreign.ts';

/** Far more than a fleet needs; stops the search of a directory that was given by mistake. */
const MAX_FILES = 10_000;

const MAX_DEPTH = 16;

const MANIFEST_EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** How users name the stdin of the command. */
export const STDIN = '-';

/**
 * The files of `-f`, in the order of the flags and then by name. A directory stands for all .yaml, .yml and .json files
 * below it, without hidden ones. A file that is reached twice counts once.
 */
export async function findManifestFiles(paths: readonly string[]): Promise<string[]> {
  if (paths.filter((path) => path === STDIN).length > 1) {
    throw new CommandError('SLW_CLI_MANIFEST', '-f -: expected stdin at most once, found it twice');
  }
  const found = new ManifestFileList();
  for (const path of paths) {
    if (path === STDIN) found.add(STDIN, STDIN);
    else if ((await readStats(path)).isDirectory()) await walk(path, 0, found);
    else found.add(path, await findRealPath(path));
  }
  return found.files;
}

/** `<(kubectl kustomize .)` of a shell is a pipe, which has no path. */
const findRealPath = (path: string): Promise<string> => realpath(path).catch(() => path);

class ManifestFileList {
  readonly files: string[] = [];
  readonly #seen = new Set<string>();

  /** False if it was seen before. */
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
        `-f: expected at most ${MAX_FILES} manifest files, found more. Use a directory with only the manifests of the fleet`,
      );
    }
    this.files.push(file);
  }
}

async function walk(directory: string, depth: number, found: ManifestFileList): Promise<void> {
  // A symbolic link may point to a parent directory.
  if (!found.isNew(await findRealPath(directory))) return;
  if (depth > MAX_DEPTH) {
    throw new CommandError(
      'SLW_CLI_MANIFEST',
      `${directory}: expected at most ${MAX_DEPTH} levels of directories, found more. Use -f with a deeper directory`,
    );
  }
  const names = await readdir(directory).catch(() => null);
  // Reading reports a directory that may not be listed.
  if (names === null) found.add(directory, join(directory, '/'));
  for (const name of (names ?? []).filter((each) => !each.startsWith('.')).sort()) {
    const path = join(directory, name);
    const entry = await stat(path).catch(() => undefined);
    if (entry?.isDirectory() === true) await walk(path, depth + 1, found);
    else if (!MANIFEST_EXTENSIONS.has(extname(name))) continue;
    // Reading reports a link to nothing, so that it does not hide the problems of other files.
    else if (entry === undefined) found.add(path, path);
    else if (entry.isFile()) found.add(path, await findRealPath(path));
  }
}

async function readStats(path: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    throw new CommandError('SLW_CLI_MANIFEST', `${path} cannot be read: ${describeSystemError(error)}`, {
      cause: error,
    });
  }
}

const MEBIBYTE = 1024 * 1024;

/** A dump of a large cluster is tens of MiB, most of it `rendered-` objects. */
const MAX_FILE_BYTES = 128 * MEBIBYTE;

export type FileText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

const refused = (message: string): FileText => ({ ok: false, message });

/** The text of a file, or of stdin. */
export async function readText(file: string, stdin: AsyncIterable<Uint8Array>): Promise<FileText> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of file === STDIN ? stdin : createReadStream(file)) {
      const bytes: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += bytes.byteLength;
      if (size > MAX_FILE_BYTES) {
        return refused(
          `it is larger than ${MAX_FILE_BYTES / MEBIBYTE} MiB. Split it, or leave out everything except MachineConfigs, MachineConfigPools and ConfigMaps`,
        );
      }
      chunks.push(bytes);
    }
  } catch (error) {
    return refused(`it cannot be read: ${describeSystemError(error)}`);
  }
  const bytes = Buffer.concat(chunks);
  const refusal = whyBytesRefused(nameOfFile(file), bytes);
  return refusal === null ? { ok: true, text: new TextDecoder('utf-8').decode(bytes) } : refused(refusal);
}

export const nameOfFile = (file: string): string => (file === STDIN ? 'stdin' : file);
