// Reads the FILE arguments of the ignition commands and prints results. stdout has only the result.
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
import { type Io, toArtifactJson, write, writeArtifact } from '../cli/io.ts';
import { safeLine } from '../cli/terminal.ts';
import { readYaml } from '../manifests/yaml.ts';

export interface OutputOptions {
  output: 'text' | 'json';
}

/** Expected failures print one line on stderr; only bugs print a stack trace. */
export function guarded<A extends unknown[]>(io: Io, exitCode: number, action: (...args: A) => Promise<void>) {
  return async (...args: A): Promise<void> => {
    // If the reader closes the pipe (`| head`), the write must not end the process with a stack trace.
    io.stdout.once('error', () => undefined);
    try {
      await action(...args);
    } catch (failure) {
      if (failure instanceof Error && 'code' in failure && failure.code === 'EPIPE') return;
      if (!(failure instanceof InputError)) throw failure;
      await write(io.stderr, `slipway ignition: ${safeLine(failure.message)} [${failure.code}]\n`);
      io.setExitCode(exitCode);
    }
  };
}

async function readAll(files: readonly string[], io: Io): Promise<Input[]> {
  if (files.filter((file) => file === '-').length > 1)
    throw new InputError('expected "-" (stdin) at most once, found it twice');
  const inputs: Input[] = [];
  for (const file of files) inputs.push(await readInput(file, io.stdin));
  return inputs;
}

type Usable = Input & { config: AnyConfig };

/** Returns the configs if all are valid, otherwise prints their reports and throws. Warnings go to stderr. */
export async function readUsable(files: readonly string[], io: Io): Promise<[Usable, ...Usable[]]> {
  const inputs = await readAll(files, io);
  await write(io.stderr, lines(inputs.flatMap(({ name, report }) => reportLines(name, report))));
  const [first, ...rest] = inputs.filter(isUsable);
  if (first === undefined || rest.length + 1 < inputs.length) {
    const bad = inputs.filter((input) => !isUsable(input)).map((input) => input.name);
    throw new InputError(`invalid: ${bad.join(', ')}`);
  }
  return [first, ...rest];
}

export async function readTwo(before: string, after: string, io: Io): Promise<[Usable, Usable]> {
  const [a, b] = await readUsable([before, after], io);
  if (b === undefined) throw new InputError('expected two configs, found one');
  return [a, b];
}

interface ConfigResult {
  result: AnyConfig | null;
  report: Report;
}

/** The merge of two valid configs can be invalid. */
export function checkResult(result: AnyConfig | null, report: Report): ConfigResult {
  const all = result === null ? report : [...report, ...validate(result)];
  return { result: hasErrors(all) ? null : result, report: all };
}

export async function writeResult(
  io: Io,
  { output }: OutputOptions,
  { result, report }: ConfigResult,
  extra: object = {},
): Promise<void> {
  if (output === 'json') await writeArtifact(io.stdout, toArtifactJson({ result, report, ...extra }));
  else {
    await write(io.stderr, lines(reportLines('', report)));
    if (result !== null) await writeArtifact(io.stdout, toArtifactJson(result));
  }
  if (result === null) io.setExitCode(1);
}

export function reportLines(name: string, report: Report): string[] {
  return report.map(({ kind, path, message }) => [name, kind, path, message].filter((part) => part !== '').join(': '));
}

export function lines(all: string[]): string {
  return all.map((line) => `${safeLine(line)}\n`).join('');
}

export interface Input {
  /** Name in messages: the file, and the MachineConfig if it contains one. */
  name: string;
  /** Null if the report has an error that prevented parsing. */
  config: AnyConfig | null;
  version: SpecVersion | null;
  /** Report of parsing and validation. */
  report: Report;
}

/** An Ignition config in JSON, or a MachineConfig in YAML or JSON, from a file or from stdin. */
async function readInput(file: string, stdin: AsyncIterable<Uint8Array>): Promise<Input> {
  const name = file === '-' ? 'stdin' : file;
  const bytes = await readBytes(name, file === '-' ? stdin : createReadStream(file));
  return interpret(name, bytes);
}

function interpret(name: string, bytes: Uint8Array): Input {
  const text = new TextDecoder('utf-8').decode(bytes);
  // An Ignition config in JSON is parsed from its exact bytes: decoding it here would hide duplicate keys.
  const value = /^\s*\{/.test(text) ? tryJson(text) : readYaml(name, text);
  if (value === undefined || (text.trimStart().startsWith('{') && !isManifest(value))) return load(name, bytes);
  if (!isManifest(value)) return load(name, asObject(name, value));
  return load(`${name} (MachineConfig ${manifestName(value)})`, configIn(name, value));
}

export function load(name: string, input: Uint8Array | object): Input {
  const parsed = parse(input);
  if (parsed.config === null) return { name, config: null, version: parsed.version, report: parsed.report };
  return { name, ...parsed, report: [...parsed.report, ...validate(parsed.config)] };
}

function isUsable(input: Input): input is Input & { config: AnyConfig } {
  return input.config !== null && !hasErrors(input.report);
}

export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isManifest(value: unknown): value is { kind?: unknown; metadata?: unknown; spec?: unknown } {
  return isRecord(value) && 'apiVersion' in value && 'kind' in value;
}

function manifestName(manifest: { metadata?: unknown }): string {
  const { metadata } = manifest;
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '<no name>';
}

function configIn(name: string, manifest: { kind?: unknown; spec?: unknown }): object {
  const { kind, spec } = manifest;
  if (kind !== 'MachineConfig') {
    throw new InputError(`${name}: expected an Ignition config or a MachineConfig, found kind ${String(kind)}`);
  }
  const config = isRecord(spec) ? spec['config'] : undefined;
  if (typeof config !== 'object' || config === null) {
    throw new InputError(`${name}: expected a MachineConfig with spec.config, found none`);
  }
  return config;
}

function asObject(name: string, value: unknown): object {
  if (typeof value === 'object' && value !== null) return value;
  throw new InputError(`${name}: expected an Ignition config or a MachineConfig, found no object`);
}

export async function readBytes(name: string, source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.byteLength;
      if (size > PARSE_LIMITS.size)
        throw new InputError(`${name}: expected at most ${PARSE_LIMITS.size} bytes, found more`);
      chunks.push(chunk);
    }
  } catch (failure) {
    if (failure instanceof InputError) throw failure;
    throw new InputError(`${name} cannot be read: ${describeSystemError(failure)}`);
  }
  return Buffer.concat(chunks);
}

function describeSystemError(failure: unknown): string {
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : 'unknown reason';
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'no such file',
    EACCES: 'permission denied',
    EISDIR: 'it is a directory',
  };
  return known[code] ?? code;
}
