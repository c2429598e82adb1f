// YAML as Kubernetes reads it, which is 1.1 with Go's numbers: `mode: 0644` is octal, `yes` is true, dates are text.
import { type Document, parseAllDocuments, type ScalarTag, stringify, type Tags } from 'yaml';
import { InputError } from '../cli/errors.ts';

/** Aliases in YAML can unfold to far more than the file's size. */
const MAX_ALIASES = 100;
/** Several times what fits into an object of a cluster. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The other spelling of octal numbers, which YAML 1.1 does not know and Go does. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text) => Number.parseInt(text.replace('0o', ''), 8),
};

/** The one document of a file; undefined when there is nothing in it. */
export function readYaml(name: string, text: string): unknown {
  const documents = readYamlDocuments(name, text).filter((each) => each !== undefined);
  if (documents.length > 1) throw new InputError(`${name} holds ${documents.length} YAML documents; expected one`);
  return documents[0];
}

/** Every document of a file, in its place: undefined where one holds nothing. */
export function readYamlDocuments(name: string, text: string, maxCharacters = MAX_CHARACTERS): unknown[] {
  if (text.length > maxCharacters) throw new InputError(`${name} is larger than ${maxCharacters} characters of YAML`);
  const documents = parseYaml(name, text);
  return documents.map((each) =>
    each.contents === null && each.errors.length === 0 ? undefined : toJsValue(name, each),
  );
}

function parseYaml(name: string, text: string): Document[] {
  try {
    const parsed = parseAllDocuments(text, { version: '1.1', logLevel: 'silent', customTags: tagsOfKubernetes });
    return Array.isArray(parsed) ? parsed : [];
  } catch (failure) {
    // The parser calls itself for each level.
    if (failure instanceof RangeError) throw new InputError(`${name} is nested too deep`);
    throw failure;
  }
}

function tagsOfKubernetes(tags: Tags): Tags {
  const isUsedTag = (tag: Tags[number]) =>
    typeof tag === 'string' ||
    (!('format' in tag && tag.format === 'TIME') && tag.tag !== 'tag:yaml.org,2002:timestamp');
  return [octal, ...tags.filter(isUsedTag)];
}

function toJsValue(name: string, document: Document): unknown {
  const [problem] = document.errors;
  if (problem !== undefined) {
    const { line, col } = problem.linePos?.[0] ?? { line: 1, col: 1 };
    throw new InputError(`${name} is neither JSON nor YAML: ${problem.code} at line ${line}, column ${col}`);
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    throw new InputError(`${name} unfolds to too much through YAML aliases`);
  }
}

/** A manifest as YAML that every reader of Kubernetes' YAML takes for the same: what only looks like a number is quoted. */
export function toYaml(value: unknown): string {
  return stringify(value, {
    version: '1.1',
    customTags: (tags) => [octal, ...tags],
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}
