// Manifest files: JSON or YAML, several documents in one file, lists taken apart.
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
  /** Where it stands, as messages say it: `fleet.yaml, document 2, item 5`. */
  place: string;
  value: unknown;
}

/** All that is read in one call, dumps of large clusters included. */
const MAX_TOTAL_CHARACTERS = 256 * 1024 * 1024;

/** Everything that `-f` names. Throws every problem of every file together, since whoever mends them wants them all. */
export async function readManifests(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  namespace: string,
): Promise<FleetManifests> {
  const { documents, problems } = await readDocuments(paths, stdin);
  return manifestsIn(paths.join(', '), documents, namespace, problems);
}

/** The documents of all files; files that cannot be read are problems. */
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

/** What `documents` have of a fleet; `name` is what people call all of them, `problems` what was wrong before. */
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
    `the manifests have more than ${MAX_TOTAL_CHARACTERS / 1024 / 1024} MiB together; leave out what is not a MachineConfig, MachineConfigPool or ConfigMap`,
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

async function walk(directory: string, depth: number, found: ManifestFileList): Promise<void> {
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

/** A dump of a large cluster has tens of MiB; `rendered-` objects are most of it. */
const MAX_FILE_BYTES = 128 * MEBIBYTE;

/** Reading YAML takes some ten times the memory and time of JSON. */
const MAX_YAML_CHARACTERS = 32 * MEBIBYTE;

/** The bytes of a file, or of stdin. */
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
          `${nameOfFile(file)} is larger than ${MAX_FILE_BYTES / MEBIBYTE} MiB; split it, or leave out what is not a MachineConfig, MachineConfigPool or ConfigMap`,
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

/** What a file holds, lists taken apart. Throws where it is neither JSON nor YAML. */
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
      // YAML's own braces look the same.
    }
  }
  try {
    return readYamlDocuments(name, text, MAX_YAML_CHARACTERS);
  } catch (failure) {
    if (!(failure instanceof InputError)) throw failure;
    const hint = text.length > MAX_YAML_CHARACTERS ? '; JSON (kubectl get -o json) may be larger' : '';
    throw new CommandError('SLW_CLI_MANIFEST', `${failure.message}${hint}`);
  }
}

/** `kind: List` of kubectl, and the lists of one kind that the API itself gives, whose items carry no kind. */
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
