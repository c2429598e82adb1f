// How the ignition commands read FILE arguments and give their answers: stdout has the answer and nothing else.
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
import { type Io, toJson, write } from '../cli/io.ts';
import { readYaml } from '../manifests/yaml.ts';

export interface OutputOptions {
  output: 'text' | 'json';
}

/** Expected failures end in one line on stderr; a stack trace is for bugs alone. */
export function guarded<A extends unknown[]>(io: Io, exitCode: number, action: (...args: A) => Promise<void>) {
  return async (...args: A): Promise<void> => {
    // Whoever closed the pipe (`| head`) has read enough; without this the write would end the process with a trace.
    io.stdout.once('error', () => undefined);
    try {
      await action(...args);
    } catch (failure) {
      if (failure instanceof Error && 'code' in failure && failure.code === 'EPIPE') return;
      if (!(failure instanceof InputError)) throw failure;
      await write(io.stderr, `slipway ignition: ${failure.message}\n`);
      io.setExitCode(exitCode);
    }
  };
}

export async function readAll(files: readonly string[], io: Io): Promise<Input[]> {
  if (files.filter((file) => file === '-').length > 1) throw new InputError('"-" (stdin) can be given once');
  const inputs: Input[] = [];
  for (const file of files) inputs.push(await readInput(file, io.stdin));
  return inputs;
}

type Usable = Input & { config: AnyConfig };

/** Configs that are valid; else their reports, and the end. Warnings go to stderr, so that stdout is only the answer. */
export async function readUsable(files: readonly string[], io: Io): Promise<[Usable, ...Usable[]]> {
  const inputs = await readAll(files, io);
  await write(io.stderr, lines(inputs.flatMap(({ name, report }) => reportLines(name, report))));
  const [first, ...rest] = inputs.filter(isUsable);
  if (first === undefined || rest.length + 1 < inputs.length) {
    const bad = inputs.filter((input) => !isUsable(input)).map((input) => input.name);
    throw new InputError(`not valid: ${bad.join(', ')}`);
  }
  return [first, ...rest];
}

export async function readTwo(before: string, after: string, io: Io): Promise<[Usable, Usable]> {
  const [a, b] = await readUsable([before, after], io);
  if (b === undefined) throw new InputError('two configs are needed');
  return [a, b];
}

interface ConfigResult {
  result: AnyConfig | null;
  report: Report;
}

/** Two valid configs can merge to an invalid one. */
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
  if (output === 'json') await write(io.stdout, toJson({ result, report, ...extra }));
  else {
    await write(io.stderr, lines(reportLines('', report)));
    if (result !== null) await write(io.stdout, toJson(result));
  }
  if (result === null) io.setExitCode(1);
}

export function reportLines(name: string, report: Report): string[] {
  return report.map(({ kind, path, message }) => [name, kind, path, message].filter((part) => part !== '').join(': '));
}

export function lines(all: string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

interface Input {
  /** What messages call it: the file, and the MachineConfig in it if it is one. */
  name: string;
  /** Null when the report has an error that kept it from being read. */
  config: AnyConfig | null;
  version: SpecVersion | null;
  /** Of parsing and validating. */
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

function isUsable(input: Input): input is Input & { config: AnyConfig } {
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
    throw new InputError(`${name} cannot be read: ${describeSystemError(failure)}`);
  }
  return Buffer.concat(chunks);
}

function describeSystemError(failure: unknown): string {
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : 'unknown reason';
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EACCES: 'permission denied',
    EISDIR: 'it is a directory',
  };
  return known[code] ?? code;
}
