// Reads manifest files: JSON or YAML, several documents in one file, lists split into items.
import { createReadStream, type Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { isRecord } from '@slipway/base/json';
import { ProblemList } from '@slipway/fleet';
import { CommandError, InputError } from '../cli/errors.ts';
import { describeSystemError } from '../cli/io.ts';
import { collectManifests, type FleetManifests } from './fleet-manifests.ts';
import { readYamlDocuments } from './yaml.ts';

export interface ManifestDocument {
  /** Its position, for messages: `fleet.yaml, document 2, item 5`. */
  place: string;
  value: unknown;
}

/** Limit for all files of one command; enough for dumps of large clusters. */
const MAX_TOTAL_CHARACTERS = 256 * 1024 * 1024;

/** Reads everything that `-f` names. Throws the problems of all files together, so that a user can fix them in one go. */
export async function readManifests(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  namespace: string,
): Promise<FleetManifests> {
  const { documents, problems } = await readDocuments(paths, stdin);
  return manifestsIn(paths.join(', '), documents, namespace, problems);
}

/** The documents of all files; unreadable files are problems. */
export async function readDocuments(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<{ documents: ManifestDocument[]; problems: string[] }> {
  const files = await findManifestFiles(paths);
  const documents: ManifestDocument[] = [];
  const problems: string[] = [];
  let characters = 0;
  for (const file of files) {
    try {
      const text = await readText(file, stdin);
      characters += text.length;
      if (characters > MAX_TOTAL_CHARACTERS) throw tooMuch();
      documents.push(...parseDocuments(file, text));
    } catch (error) {
      if (!(error instanceof CommandError) || characters > MAX_TOTAL_CHARACTERS) throw error;
      problems.push(error.message);
    }
  }
  return { documents, problems };
}

/** The fleet in `documents`. `name` describes all of them in messages; `problems` are earlier ones. */
export function manifestsIn(
  name: string,
  documents: readonly ManifestDocument[],
  namespace: string,
  problems: readonly string[] = [],
): FleetManifests {
  const collected = collectManifests(documents, namespace);
  if (!collected.ok) throw ProblemList.of('SLW_CLI_MANIFEST', [...problems, ...collected.problems]);
  if (problems.length > 0) throw ProblemList.of('SLW_CLI_MANIFEST', problems);
  const { manifests } = collected;
  if (manifests.machineConfigs.length + manifests.pools.length === 0) {
    throw new CommandError(
      'SLW_CLI_MANIFEST',
      `${name}: expected MachineConfigs and MachineConfigPools in .yaml, .yml or .json files, found ${formatIgnored(manifests)}`,
    );
  }
  return manifests;
}

function tooMuch(): CommandError {
  return new CommandError(
    'SLW_CLI_MANIFEST',
    `-f: expected at most ${MAX_TOTAL_CHARACTERS / 1024 / 1024} MiB of manifests in total, found more. Leave out everything except MachineConfigs, MachineConfigPools and ConfigMaps`,
  );
}

/** `3 other objects (Secret 2, Deployment 1)`. */
export function formatIgnored({ ignored }: Pick<FleetManifests, 'ignored'>): string {
  const kinds = [...ignored].sort(([a], [b]) => (a < b ? -1 : 1));
  const count = kinds.reduce((sum, [, each]) => sum + each, 0);
  if (count === 0) return 'nothing';
  const shown = kinds.slice(0, 8).map(([kind, each]) => `${kind} ${each}`);
  const more = kinds.length > shown.length ? ', …' : '';
  return `${count} other ${count === 1 ? 'object' : 'objects'} (${shown.join(', ')}${more})`;
}

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
    else found.add(path, await realpath(path));
  }
  return found.files;
}

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
  if (!found.isNew(await realpath(directory))) return;
  if (depth > MAX_DEPTH) {
    throw new CommandError(
      'SLW_CLI_MANIFEST',
      `${directory}: expected at most ${MAX_DEPTH} levels of directories, found more. Use -f with a deeper directory`,
    );
  }
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.')).sort();
  for (const name of names) {
    const path = join(directory, name);
    const entry = await readStats(path);
    if (entry.isDirectory()) await walk(path, depth + 1, found);
    else if (entry.isFile() && MANIFEST_EXTENSIONS.has(extname(name))) found.add(path, await realpath(path));
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

/** Parsing YAML takes about ten times the memory and time of JSON. */
const MAX_YAML_CHARACTERS = 32 * MEBIBYTE;

/** The text of a file, or of stdin. */
export async function readText(file: string, stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of file === STDIN ? stdin : createReadStream(file)) {
      const bytes: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += bytes.byteLength;
      if (size > MAX_FILE_BYTES) {
        throw new CommandError(
          'SLW_CLI_MANIFEST',
          `${nameOfFile(file)} is larger than ${MAX_FILE_BYTES / MEBIBYTE} MiB. Split it, or leave out everything except MachineConfigs, MachineConfigPools and ConfigMaps`,
        );
      }
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError('SLW_CLI_MANIFEST', `${nameOfFile(file)} cannot be read: ${describeSystemError(error)}`, {
      cause: error,
    });
  }
  return new TextDecoder('utf-8').decode(Buffer.concat(chunks));
}

const nameOfFile = (file: string): string => (file === STDIN ? 'stdin' : file);

/** The documents of a file, with lists split into items. Throws if it is neither JSON nor YAML. */
export function parseDocuments(file: string, text: string): ManifestDocument[] {
  const name = nameOfFile(file);
  const values = parseValues(name, text);
  return values.flatMap((value, index) => {
    if (value === undefined || value === null) return [];
    const place = values.length === 1 ? name : `${name}, document ${index + 1}`;
    return takeApart({ place, value });
  });
}

function parseValues(name: string, text: string): unknown[] {
  if (/^\s*[{[]/.test(text)) {
    try {
      return [JSON.parse(text)];
    } catch {
      // It may be YAML in flow style.
    }
  }
  try {
    return readYamlDocuments(name, text, MAX_YAML_CHARACTERS);
  } catch (failure) {
    if (!(failure instanceof InputError)) throw failure;
    const hint = text.length > MAX_YAML_CHARACTERS ? '. For larger files use JSON (kubectl get -o json)' : '';
    throw new CommandError('SLW_CLI_MANIFEST', `${failure.message}${hint}`);
  }
}

/** Splits `kind: List` of kubectl, and the API's own lists, whose items have no kind. */
function takeApart(document: ManifestDocument): ManifestDocument[] {
  const { place, value } = document;
  if (!isRecord(value)) return [document];
  const { apiVersion, kind, items } = value;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [document];
  const header = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return items.map((item: unknown, index) => ({
    place: `${place}, item ${index + 1}`,
    value: isRecord(item) ? { ...header, ...item } : item,
  }));
}
