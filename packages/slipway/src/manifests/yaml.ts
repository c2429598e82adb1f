// Parses YAML like Kubernetes: version 1.1 with Go's numbers. `mode: 0644` is octal, `yes` is true, dates are strings.
import {
  type Document,
  type ErrorCode,
  isScalar,
  type LineCounter,
  parseAllDocuments,
  type ScalarTag,
  stringify,
  type Tags,
  visit,
  type YAMLParseError,
} from 'yaml';
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

export interface YamlProblem {
  /** Null for the text as a whole. */
  readonly line: number | null;
  readonly message: string;
}

/** `value` is undefined for an empty document. */
export type YamlDocument =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly YamlProblem[] };

/** The only document of a file; undefined if the file is empty. */
export function readYaml(name: string, text: string): unknown {
  const values = readYamlDocuments(text).flatMap((document) => {
    if (!document.ok) throw new InputError(document.problems.map((each) => formatYamlProblem(name, each)).join('; '));
    return document.value === undefined ? [] : [document.value];
  });
  if (values.length > 1) throw new InputError(`${name}: expected one YAML document, found ${values.length}`);
  return values[0];
}

export const formatYamlProblem = (name: string, { line, message }: YamlProblem): string =>
  `${name}${line === null ? '' : `, line ${line}`}: ${message}`;

/** Every document of a text in order, also if others cannot be read. */
export function readYamlDocuments(text: string, maxCharacters = MAX_CHARACTERS): YamlDocument[] {
  if (text.length > maxCharacters) {
    const message = `expected at most ${maxCharacters} characters of YAML, found ${text.length}`;
    return [{ ok: false, problems: [{ line: null, message }] }];
  }
  const documents = parseYaml(text);
  return documents === null
    ? [{ ok: false, problems: [{ line: null, message: TOO_DEEP }] }]
    : documents.map((each) => toJsValue(text, each));
}

const TOO_DEEP = 'it is nested too deeply';

/** Without positions of lines unless `lines` is passed: they take time, and are needed only for problems. */
export function parseYaml(text: string, lines?: LineCounter): Document[] | null {
  try {
    const parsed = parseAllDocuments(text, {
      version: '1.1',
      logLevel: 'silent',
      prettyErrors: false,
      customTags: tagsOfKubernetes,
      ...(lines !== undefined && { lineCounter: lines }),
    });
    return Array.isArray(parsed) ? parsed : [];
  } catch (failure) {
    // The parser recurses for each level.
    if (failure instanceof RangeError) return null;
    throw failure;
  }
}

function tagsOfKubernetes(tags: Tags): Tags {
  const isUsedTag = (tag: Tags[number]) =>
    typeof tag === 'string' ||
    (!('format' in tag && tag.format === 'TIME') && tag.tag !== 'tag:yaml.org,2002:timestamp');
  return [octal, ...tags.filter(isUsedTag)];
}

/** The parser's own messages have codes and excerpts of several lines. */
export const REASONS: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) has a tag or an anchor of its own; remove it',
  BAD_ALIAS: 'an alias (*name) needs an anchor (&name) above it; put a text that starts with * in quotes',
  BAD_COLLECTION_TYPE: 'a tag (!name) does not match its value; remove it',
  BAD_DIRECTIVE: 'only a YAML directive starts with %; put a text that starts with % in quotes',
  BAD_DQ_ESCAPE: 'in double quotes, \\ starts an escape such as \\n; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'the indentation does not match the lines above, or a bracket above is not closed',
  BAD_PROP_ORDER: 'a tag (!name) or an anchor (&name) is in the wrong place; it belongs between the key and its value',
  BAD_SCALAR_START: 'a text must not start with @, % or `, and | and > need a new line; put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a value contains a colon and a space (put it in quotes), or the line below has the wrong indentation',
  BLOCK_IN_FLOW: 'between { } and [ ] a value cannot be a block of lines; check the brackets above',
  DUPLICATE_KEY: 'a key appears twice; keep one',
  IMPOSSIBLE: 'it is not valid YAML',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters; a colon or a quote is probably missing',
  MISSING_CHAR: 'a colon, a comma, a closing bracket or a closing quote is missing here or above',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing after the key here or above',
  MULTIPLE_ANCHORS: 'a value has two anchors (&name); keep one',
  MULTIPLE_DOCS: 'two documents need a line with --- between them',
  MULTIPLE_TAGS: 'a value has two tags (!name); keep one',
  NON_STRING_KEY: 'a key must be a string',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  TAB_AS_INDENT: 'a tab is used for indentation; YAML needs spaces',
  TAG_RESOLVE_FAILED: 'a value does not match its tag (!name); remove the tag',
  UNEXPECTED_TOKEN: 'the text does not fit here; check the indentation, colons and quotes here and above',
};

function toJsValue(text: string, document: Document): YamlDocument {
  const { errors } = document;
  // After any other error, later ones are mostly its consequences.
  const own = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  if (own !== undefined) return { ok: false, problems: [describeError(text, own)] };
  if (errors.length > 0) return { ok: false, problems: errors.map((each) => describeDuplicate(text, document, each)) };
  if (document.contents === null) return { ok: true, value: undefined };
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch {
    return { ok: false, problems: [describeAliases(text, document)] };
  }
}

/** An alias is resolved last: one without an anchor, or too many. */
function describeAliases(text: string, document: Document): YamlProblem {
  let offset: number | undefined;
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return undefined;
      offset = alias.range?.[0];
      return visit.BREAK;
    },
  });
  if (offset !== undefined) return { line: lineAt(text, offset), message: REASONS.BAD_ALIAS };
  const line = lineAt(text, document.contents?.range?.[0] ?? 0);
  return { line, message: 'its YAML aliases expand to too much data' };
}

const describeError = (text: string, { code, pos }: YAMLParseError): YamlProblem => ({
  line: lineAt(text, pos[0]),
  message: Object.hasOwn(REASONS, code) ? REASONS[code] : REASONS.IMPOSSIBLE,
});

/** `the key "role" appears twice (lines 6 and 7): keep one`. */
function describeDuplicate(text: string, document: Document, error: YAMLParseError): YamlProblem {
  const line = lineAt(text, error.pos[0]);
  let message = REASONS.DUPLICATE_KEY;
  visit(document, {
    Map: (_, map) => {
      const keys = map.items.map(({ key }) => key).filter((key) => isScalar(key));
      const second = keys.find((key) => key.range?.[0] === error.pos[0]);
      if (second === undefined) return undefined;
      const first = keys.find((key) => key.value === second.value)?.range?.[0] ?? error.pos[0];
      const places = lineAt(text, first) === line ? `both on line ${line}` : `lines ${lineAt(text, first)} and ${line}`;
      message = `the key ${JSON.stringify(String(second.value).slice(0, 80))} appears twice (${places}): ${second.value === 'apiVersion' ? 'write --- between two objects' : 'keep one'}`;
      return visit.BREAK;
    },
  });
  return { line, message };
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
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
