// FILE arguments: an Ignition config in JSON, or a MachineConfig in YAML or JSON, from a file or from stdin.
import { createReadStream } from 'node:fs';
import { isRecord } from '@slipway/base/json';
import {
  type AnyConfig,
  hasErrors,
  parse,
  PARSE_LIMITS,
  type Report,
  type SpecVersion,
  validate,
} from '@slipway/ignition';
import { InputError } from '../cli/errors.ts';
import { readYaml } from './manifest-yaml.ts';

export interface Input {
  /** What messages call it: the file, and the MachineConfig in it if it is one. */
  name: string;
  /** Null when the report has an error that kept it from being read. */
  config: AnyConfig | null;
  version: SpecVersion | null;
  /** Of parsing and validating. */
  report: Report;
}

export async function readInput(file: string, stdin: AsyncIterable<Uint8Array>): Promise<Input> {
  const name = file === '-' ? 'stdin' : file;
  const bytes = await readBytes(name, file === '-' ? stdin : createReadStream(file));
  return interpret(name, bytes);
}

function interpret(name: string, bytes: Uint8Array): Input {
  const text = new TextDecoder('utf-8').decode(bytes);
  // An Ignition config in JSON is parsed from its exact bytes: decoding it here would hide keys that stand twice.
  const value = /^\s*\{/.test(text) ? tryJson(text) : readYaml(name, text);
  if (value === undefined || (text.trimStart().startsWith('{') && !isManifest(value))) return load(name, bytes);
  if (!isManifest(value)) return load(name, asObject(name, value));
  return load(`${name} (MachineConfig ${manifestName(value)})`, configIn(name, value));
}

function load(name: string, input: Uint8Array | object): Input {
  const parsed = parse(input);
  if (parsed.config === null) return { name, config: null, version: parsed.version, report: parsed.report };
  return { name, ...parsed, report: [...parsed.report, ...validate(parsed.config)] };
}

export function isUsable(input: Input): input is Input & { config: AnyConfig } {
  return input.config !== null && !hasErrors(input.report);
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isManifest(value: unknown): value is { kind?: unknown; metadata?: unknown; spec?: unknown } {
  return isRecord(value) && 'apiVersion' in value && 'kind' in value;
}

function manifestName(manifest: { metadata?: unknown }): string {
  const { metadata } = manifest;
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : 'without a name';
}

function configIn(name: string, manifest: { kind?: unknown; spec?: unknown }): object {
  const { kind, spec } = manifest;
  if (kind !== 'MachineConfig') {
    throw new InputError(`${name} is a ${String(kind)}; expected an Ignition config or a MachineConfig`);
  }
  const config = isRecord(spec) ? spec['config'] : undefined;
  if (typeof config !== 'object' || config === null) {
    throw new InputError(`${name}: the MachineConfig has no spec.config to look at`);
  }
  return config;
}

function asObject(name: string, value: unknown): object {
  if (typeof value === 'object' && value !== null) return value;
  throw new InputError(`${name} holds no object; expected an Ignition config or a MachineConfig`);
}

async function readBytes(name: string, source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.byteLength;
      if (size > PARSE_LIMITS.size) throw new InputError(`${name} is larger than ${PARSE_LIMITS.size} bytes`);
      chunks.push(chunk);
    }
  } catch (failure) {
    if (failure instanceof InputError) throw failure;
    throw new InputError(`${name} cannot be read: ${reasonOf(failure)}`);
  }
  return Buffer.concat(chunks);
}

function reasonOf(failure: unknown): string {
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : 'unknown reason';
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EACCES: 'permission denied',
    EISDIR: 'it is a directory',
  };
  return known[code] ?? code;
}
