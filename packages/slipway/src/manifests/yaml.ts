// Parses YAML like Kubernetes: version 1.1 with Go's numbers. `mode: 0644` is octal, `yes` is true, dates are strings.
import { type Document, parseAllDocuments, type ScalarTag, stringify, type Tags } from 'yaml';
import { InputError } from '../cli/errors.ts';

/** YAML aliases can expand to far more than the size of the file. */
const MAX_ALIASES = 100;
/** Several times the size limit of a Kubernetes object. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The `0o` spelling of octal numbers: Go accepts it, YAML 1.1 does not. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text) => Number.parseInt(text.replace('0o', ''), 8),
};

/** The only document of a file; undefined if the file is empty. */
export function readYaml(name: string, text: string): unknown {
  const documents = readYamlDocuments(name, text).filter((each) => each !== undefined);
  if (documents.length > 1) throw new InputError(`${name}: expected one YAML document, found ${documents.length}`);
  return documents[0];
}

/** Every document of a file in order; undefined for an empty one. */
export function readYamlDocuments(name: string, text: string, maxCharacters = MAX_CHARACTERS): unknown[] {
  if (text.length > maxCharacters)
    throw new InputError(`${name}: expected at most ${maxCharacters} characters of YAML, found ${text.length}`);
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
    // The parser recurses for each level.
    if (failure instanceof RangeError) throw new InputError(`${name} is nested too deeply`);
    throw failure;
  }
}

function tagsOfKubernetes(tags: Tags): Tags {
  const isUsedTag = (tag: Tags[number]) =>
    typeof tag === 'string' ||
    (!('format' in tag && tag.format === 'TIME') && tag.tag !== 'tag:yaml.org,2002:timestamp');
  return [octal, ...tags.filter(isUsedTag)];
}

/** The parser's own messages span several lines. */
const REASONS: Readonly<Record<string, string>> = {
  BAD_INDENT: 'the indentation does not match the lines above',
  DUPLICATE_KEY: 'this key appears twice; keep one',
  MISSING_CHAR: 'a closing bracket or quote, or a colon, is missing',
  TAB_AS_INDENT: 'a tab is used for indentation; YAML needs spaces',
  UNEXPECTED_TOKEN: 'the text does not fit here',
};

function toJsValue(name: string, document: Document): unknown {
  const [problem] = document.errors;
  if (problem !== undefined) {
    const { line, col } = problem.linePos?.[0] ?? { line: 1, col: 1 };
    const reason = REASONS[problem.code] ?? `invalid JSON or YAML (${problem.code})`;
    throw new InputError(`${name}, line ${line}, column ${col}: ${reason}`);
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    throw new InputError(`${name}: its YAML aliases expand to too much data`);
  }
}

/** Formats YAML that every Kubernetes parser reads the same way: strings that could be read as numbers are quoted. */
export function toYaml(value: unknown): string {
  return stringify(value, {
    version: '1.1',
    customTags: (tags) => [octal, ...tags],
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}
