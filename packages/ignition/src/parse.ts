// From JSON, or an object out of a YAML manifest, to a config of its own spec version. Never throws, on any input.
//
// Every type is checked against the table of the spec; unknown keys warn and are left out. What comes back is a fresh,
// normal form: fields in the order of the table, no nulls, no empty lists or objects where the spec cannot tell them
// from none. The rules of the spec beyond types are validate's.
import { markNotIntegers, scanJson } from './json-scan.ts';
import { readConfig } from './read.ts';
import { Findings, type Report, show } from './report.ts';
import { type AnyConfig, INTEGER_FIELDS, specOf } from './spec/index.ts';
import { isSpecVersion, SPEC_VERSIONS, type SpecVersion } from './version.ts';

export interface ParseLimits {
  /** Bytes of a Uint8Array, UTF-16 units of a string. */
  readonly size: number;
  /** Nesting of objects and lists. */
  readonly depth: number;
  /** Objects, lists and what is in them: what takes time and memory, where a long text is only long. */
  readonly values: number;
}

/** The depth is the one at which the Go client gives up; the size is far above what fits into any object of a cluster. */
export const PARSE_LIMITS: ParseLimits = { size: 64 * 1024 * 1024, depth: 10_000, values: 1_000_000 };

export interface Parsed<C extends AnyConfig = AnyConfig> {
  readonly config: C;
  readonly version: SpecVersion;
  readonly report: Report;
}

export interface NotParsed {
  readonly config: null;
  /** The version the input names, if it could be read. */
  readonly version: SpecVersion | null;
  readonly report: Report;
}

export type ParseResult = Parsed | NotParsed;

export function parse(input: string | Uint8Array | object, limits: ParseLimits = PARSE_LIMITS): ParseResult {
  const findings = new Findings();
  try {
    return parseInto(findings, input, limits);
  } catch {
    // Only an object with getters or a proxy that throws comes here; JSON text has neither.
    findings.error(
      '',
      'the config could not be read: reading one of its fields failed. Give it as JSON or plain data.',
    );
    return { config: null, version: null, report: findings.report() };
  }
}

function parseInto(findings: Findings, input: string | Uint8Array | object, limits: ParseLimits): ParseResult {
  const isText = typeof input === 'string' || input instanceof Uint8Array;
  const value = isText ? decodeText(findings, input, limits) : input;
  if (value === undefined) return { config: null, version: null, report: findings.report() };
  const version = readVersion(findings, value);
  if (version === null) return { config: null, version: null, report: findings.report() };
  const config = readConfig(specOf(version), value, findings);
  if (findings.failed || config === null) return { config: null, version, report: findings.report() };
  return { config, version, report: findings.report() };
}

/** Undefined when the text is no JSON. */
function decodeText(findings: Findings, input: string | Uint8Array, limits: ParseLimits): unknown {
  if (input.length === 0) {
    findings.error('', 'the config is empty: expected a JSON object with ignition.version');
    return undefined;
  }
  if (input.length > limits.size) {
    findings.error('', `the config has ${input.length} bytes: at most ${limits.size} are read`);
    return undefined;
  }
  const text = typeof input === 'string' ? input : new TextDecoder('utf-8', { ignoreBOM: true }).decode(input);
  const scan = scanJson(text, limits, INTEGER_FIELDS);
  if (scan.tooDeep) {
    findings.error('', `the config nests deeper than ${limits.depth} levels: objects and lists up to there are read`);
    return undefined;
  }
  if (scan.tooMany) {
    findings.error('', `the config has more than ${limits.values} values: only so many are read`);
    return undefined;
  }
  const value = parseJson(findings, text);
  if (value === undefined) return undefined;
  for (const path of scan.duplicates) {
    findings.error(path, 'the key stands twice in one object: which one counts would depend on the reader. Keep one.');
  }
  return scan.notIntegers.length === 0 ? value : JSON.parse(markNotIntegers(text, scan));
}

/** The message of JSON.parse quotes the text around the mistake, which may be secret: only its place is told. */
function parseJson(findings: Findings, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /\(line \d+ column \d+\)|at position \d+/.exec(error instanceof Error ? error.message : '');
    findings.error('', `the config is not valid JSON${place === null ? '' : ` ${place[0]}`}`);
    return undefined;
  }
}

function readVersion(findings: Findings, value: unknown): SpecVersion | null {
  const ignition = readField(value, 'ignition');
  const version = readField(ignition, 'version');
  if (typeof version === 'string' && isSpecVersion(version)) return version;
  const expected = `expected one of ${SPEC_VERSIONS.join(', ')}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    findings.error('', `the config is ${show(value)}: expected an object with ignition.version`);
  } else if (version === undefined || version === null) {
    findings.error('ignition.version', `the spec version is missing: ${expected}`);
  } else {
    findings.error('ignition.version', `the spec version ${show(version)} is not known here: ${expected}`);
  }
  return null;
}

function readField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}
