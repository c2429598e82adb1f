// Reads manifest files: JSON or YAML, several documents in one file, lists split into items.
import { isRecord } from '@slipway/base/json';
import { count } from '@slipway/base/text';
import { type CodedProblem, ProblemList } from '@slipway/fleet';
import { scanJson } from '@slipway/ignition';
import { CommandError } from '../cli/errors.ts';
import { findManifestFiles, nameOfFile, readText } from './files.ts';
import { findForeign, findJsonComment, findStrayLine, findTemplate } from './foreign.ts';
import { collectManifests, type FleetManifests } from './fleet-manifests.ts';
import { findLine, MAX_CHARACTERS_WITH_LINES } from './lines.ts';
import {
  errorsIn,
  type ManifestDocument,
  type PlacedFinding,
  placeFinding,
  toCodedProblem,
  warningsIn,
} from './manifest-document.ts';
import { readYamlDocuments, type YamlDocument } from './yaml.ts';

export interface ManifestFile {
  readonly name: string;
  readonly characters: number;
  readonly documents: readonly ManifestDocument[];
  /** Why some or all of it cannot be read. */
  readonly findings: readonly PlacedFinding[];
}

/** Limit for all files of one command; enough for dumps of large clusters. */
const MAX_TOTAL_CHARACTERS = 256 * 1024 * 1024;

/** Reads everything that `-f` names. Throws the problems of all files together, so that a user can fix them in one go. */
export async function readManifests(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  namespace: string,
): Promise<FleetManifests> {
  const { documents, findings } = await readDocuments(paths, stdin);
  return manifestsIn(paths.join(', '), documents, namespace, findings);
}

/** The documents of all files. */
export async function readDocuments(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<{ documents: ManifestDocument[]; findings: PlacedFinding[] }> {
  const documents: ManifestDocument[] = [];
  const findings: PlacedFinding[] = [];
  let characters = 0;
  for await (const file of readManifestFiles(paths, stdin)) {
    characters += file.characters;
    if (characters > MAX_TOTAL_CHARACTERS) throw tooMuch();
    documents.push(...file.documents);
    findings.push(...file.findings);
  }
  return { documents, findings };
}

/** One file at a time, without what is not for Slipway. An unreadable file does not end the reading. */
export async function* readManifestFiles(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): AsyncGenerator<ManifestFile> {
  const named = new Set(paths);
  for (const path of await findManifestFiles(paths)) {
    yield withoutForeign(await readManifestFile(path, stdin), named.has(path));
  }
}

/** What is not for Slipway becomes findings. */
export function withoutForeign(file: ManifestFile, isNamed: boolean): ManifestFile {
  const { name, characters } = file;
  const findings = [...file.findings];
  const documents = file.documents.filter((document) => {
    const foreign = findForeign(document.value, { file: name, isNamed });
    if (foreign !== null) findings.push(placeFinding(document, foreign));
    return foreign === null;
  });
  if (file.documents.length + findings.length === 0) {
    findings.push({
      ...unreadable(name, null, 'it has no objects; leave it out', 'SLW_CLI_FOREIGN'),
      severity: 'warning',
    });
  }
  return { name, characters, documents, findings };
}

export async function readManifestFile(path: string, stdin: AsyncIterable<Uint8Array>): Promise<ManifestFile> {
  const name = nameOfFile(path);
  const read = await readText(path, stdin);
  if (read.ok) return parseDocuments(name, read.text);
  return { name, characters: 0, documents: [], findings: [unreadable(name, null, read.message)] };
}

/** The fleet in `documents`. `name` describes all of them in messages; `findings` are those of reading them. */
export function manifestsIn(
  name: string,
  documents: readonly ManifestDocument[],
  namespace: string,
  findings: readonly PlacedFinding[] = [],
  problems: readonly CodedProblem[] = [],
): FleetManifests {
  const collected = collectManifests(documents, namespace);
  const all = [...errorsIn(findings), ...problems, ...(collected.ok ? [] : collected.problems)];
  if (!collected.ok || all.length > 0) throw new ProblemList(all);
  const { manifests } = collected;
  if (manifests.machineConfigs.length + manifests.pools.length === 0) {
    const message = `${name}: expected MachineConfigs and MachineConfigPools in .yaml, .yml or .json files, found ${formatIgnored(manifests)}`;
    throw findings.length === 0
      ? new CommandError('SLW_CLI_MANIFEST', message)
      : new ProblemList([...findings.map(toCodedProblem), { code: 'SLW_CLI_MANIFEST', message }]);
  }
  return { ...manifests, warnings: [...warningsIn(findings), ...manifests.warnings] };
}

function tooMuch(): CommandError {
  return new CommandError(
    'SLW_CLI_MANIFEST',
    `-f: expected at most ${MAX_TOTAL_CHARACTERS / 1024 / 1024} MiB of manifests in total, found more. Leave out everything except MachineConfigs, MachineConfigPools and ConfigMaps`,
  );
}

/** `3 other objects (Secret 2, Deployment 1)`. */
export function formatIgnored({ ignored }: Pick<FleetManifests, 'ignored'>): string {
  const total = [...ignored.values()].reduce((sum, each) => sum + each, 0);
  return total === 0 ? 'nothing' : `${count(total, 'other object')} (${formatKinds(ignored)})`;
}

const MAX_KINDS = 8;

/** `Deployment 1, Secret 2`. */
export function formatKinds(kinds: ReadonlyMap<string, number>): string {
  const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = sorted.slice(0, MAX_KINDS).map(([kind, each]) => `${kind} ${each}`);
  return `${shown.join(', ')}${sorted.length > shown.length ? ', …' : ''}`;
}

/** Parsing YAML takes about ten times the memory and time of JSON. */
const MAX_YAML_CHARACTERS = 32 * 1024 * 1024;

/** The documents of a file, with lists split into items. */
export function parseDocuments(name: string, text: string): ManifestFile {
  const parsed = parseValues(text);
  const hasLines = text.length <= MAX_CHARACTERS_WITH_LINES;
  const documents = parsed.flatMap((document, index) => {
    if (!document.ok || document.value === undefined || document.value === null) return [];
    return takeApart({
      file: name,
      position: parsed.length === 1 ? '' : `document ${index + 1}`,
      value: document.value,
      findLine: hasLines ? (field) => findLine(text, index, field) : () => null,
    });
  });
  const errors = parsed.flatMap((document) => (document.ok ? [] : document.problems));
  const stray = errors.length === 0 ? null : findStrayLine(text);
  const problems = stray === null ? errors : [stray];
  const template = problems.length === 0 ? null : findTemplate(name, text, problems[0]?.line ?? null);
  const findings =
    template === null
      ? problems.map(({ line, message }) => unreadable(name, line, message))
      : [unreadable(name, template.line, template.message, 'SLW_CLI_FOREIGN')];
  return { name, characters: text.length, documents, findings };
}

const unreadable = (
  file: string,
  line: number | null,
  message: string,
  code: 'SLW_CLI_MANIFEST' | 'SLW_CLI_FOREIGN' = 'SLW_CLI_MANIFEST',
): PlacedFinding => ({
  severity: 'error',
  code,
  object: '',
  field: '',
  message,
  file,
  line,
  position: '',
});

function parseValues(text: string): YamlDocument[] {
  if (/^\s*[{[]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      // The parser of YAML reports duplicate keys; JSON.parse keeps the last.
      if (!hasDuplicateKeys(text)) return [{ ok: true, value }];
    } catch {
      // It may be YAML in flow style.
    }
  }
  const comment = /^\s*(?:[{[]|\/[/*])/.test(text) ? findJsonComment(text) : null;
  if (comment !== null) return [{ ok: false, problems: [comment] }];
  if (text.length > MAX_YAML_CHARACTERS) {
    const message = `expected at most ${MAX_YAML_CHARACTERS} characters of YAML, found ${text.length}. For larger files use JSON (kubectl get -o json)`;
    return [{ ok: false, problems: [{ line: null, message }] }];
  }
  return readYamlDocuments(text, MAX_YAML_CHARACTERS);
}

const SCAN_LIMITS = { depth: 100, values: 1_000_000 };

/** Dumps of clusters have none. */
const hasDuplicateKeys = (text: string): boolean =>
  text.length <= MAX_CHARACTERS_WITH_LINES && scanJson(text, SCAN_LIMITS).duplicates.length > 0;

/** Splits `kind: List` of kubectl, and the API's own lists, whose items have no kind. */
function takeApart(document: ManifestDocument): ManifestDocument[] {
  const { file, position, value, findLine: findLineIn } = document;
  if (!isRecord(value)) return [document];
  const { apiVersion, kind, items } = value;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [document];
  const header = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return items.map((item: unknown, index) => ({
    file,
    position: `${position === '' ? '' : `${position}, `}item ${index + 1}`,
    value: isRecord(item) ? { ...header, ...item } : item,
    findLine: (field) => findLineIn(`items[${index}]${/^(\[|$)/.test(field) ? '' : '.'}${field}`),
  }));
}
