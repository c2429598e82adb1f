// Parses JSON, or an object from a YAML manifest, into a config of its own spec version. Never throws, on any input.
//
// Checks every type against the table of the spec; unknown keys are dropped with a warning. Returns a new object in
// normal form: fields in table order, no nulls, no empty lists or objects where the spec treats them as absent.
// Rules beyond types are up to validate.
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
  /** Objects, lists and their members: these cost time and memory, a long string does not. */
  readonly values: number;
}

/** The depth is the limit of the Go client; the size is far above what fits into any Kubernetes object. */
export const PARSE_LIMITS: ParseLimits = { size: 64 * 1024 * 1024, depth: 10_000, values: 1_000_000 };

export interface Parsed<C extends AnyConfig = AnyConfig> {
  readonly config: C;
  readonly version: SpecVersion;
  readonly report: Report;
}

export interface NotParsed {
  readonly config: null;
  /** The version in the input, if it could be read. */
  readonly version: SpecVersion | null;
  readonly report: Report;
}

export type ParseResult = Parsed | NotParsed;

export function parse(input: string | Uint8Array | object, limits: ParseLimits = PARSE_LIMITS): ParseResult {
  const findings = new Findings();
  try {
    return parseInto(findings, input, limits);
  } catch {
    // Only an object with getters, or a proxy that throws, ends up here; JSON text has neither.
    findings.error(
      '',
      'the config could not be read: reading one of its fields failed. Pass it as JSON or plain data.',
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

/** Undefined if the text is not JSON. */
function decodeText(findings: Findings, input: string | Uint8Array, limits: ParseLimits): unknown {
  if (input.length === 0) {
    findings.error('', 'the config is empty: expected a JSON object with ignition.version');
    return undefined;
  }
  if (input.length > limits.size) {
    findings.error('', `the config has ${input.length} bytes: expected at most ${limits.size}`);
    return undefined;
  }
  const text = typeof input === 'string' ? input : new TextDecoder('utf-8', { ignoreBOM: true }).decode(input);
  const scan = scanJson(text, limits, INTEGER_FIELDS);
  if (scan.tooDeep) {
    findings.error('', `the config nests deeper than ${limits.depth} levels. Flatten its objects and lists`);
    return undefined;
  }
  if (scan.tooMany) {
    findings.error('', `the config has more than ${limits.values} values. Split it into several configs`);
    return undefined;
  }
  const value = parseJson(findings, text);
  if (value === undefined) return undefined;
  for (const path of scan.duplicates) {
    findings.error(path, 'the key is duplicated in one object, and readers differ in which one they use. Keep one.');
  }
  return scan.notIntegers.length === 0 ? value : JSON.parse(markNotIntegers(text, scan));
}

/** The message of JSON.parse quotes the text around the error, which may be secret: report only the place. */
function parseJson(findings: Findings, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /line (\d+) column (\d+)/.exec(error instanceof Error ? error.message : '');
    findings.error('', `the config is not valid JSON${place === null ? '' : `: line ${place[1]}, column ${place[2]}`}`);
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
    const butane =
      typeof readField(value, 'variant') === 'string' ? 'this is a Butane config: run butane first; or ' : '';
    findings.error('ignition.version', `the spec version is missing: ${butane}${expected}`);
  } else {
    findings.error('ignition.version', `the spec version ${show(version)} is not supported: ${expected}`);
  }
  return null;
}

function readField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}
