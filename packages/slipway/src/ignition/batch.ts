// `slipway ignition batch`: reads one request per line and prints one response per line, in the same order.
import { isRecord } from '@slipway/base/json';
import { hasErrors, isSpecVersion, parse, type Report, type SpecVersion, translate, validate } from '@slipway/ignition';
import { type Io, writeArtifact } from '../cli/io.ts';
import { DEFAULT_TARGET, isSpec3, mergeAll, type NamedConfig } from './combine.ts';

export interface BatchResponse {
  id: unknown;
  result: unknown;
  report: Report;
}

/** A config can have 64 MiB, and a merge several configs. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

const NEWLINE = 0x0a;

export async function runBatch(io: Io, maxLineBytes = MAX_LINE_BYTES): Promise<void> {
  for await (const line of readLines(io.stdin, maxLineBytes)) {
    if (line !== null && line.trim() === '') continue;
    const answer = line === null ? tooLong(maxLineBytes) : handleLine(line);
    // Waiting for the write keeps memory bounded if requests arrive faster than responses are read.
    await writeArtifact(io.stdout, `${JSON.stringify(answer)}\n`);
  }
}

/** The response to one line. Never throws. */
export function handleLine(line: string): BatchResponse {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refuse(null, 'the line is not JSON');
  }
  const id = isRecord(value) ? (value['id'] ?? null) : null;
  const question = parseRequest(value);
  if (typeof question === 'string') return refuse(id, question);
  try {
    return { id, ...executeRequest(question) };
  } catch {
    // A bug in slipway; the other lines must get their responses anyway.
    return refuse(id, 'this request failed because of a bug in slipway. Please report it');
  }
}

/** Lines as text; null for one that is too long, which is not stored. */
async function* readLines(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string | null> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const end = (): string | null => {
    const line = size > maxBytes ? null : Buffer.concat(parts).toString('utf8');
    parts = [];
    size = 0;
    return line;
  };
  const take = (bytes: Uint8Array) => {
    size += bytes.byteLength;
    if (size > maxBytes) parts = [];
    else parts.push(bytes);
  };
  for await (const chunk of source) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, at));
      yield end();
      start = at + 1;
    }
    take(chunk.subarray(start));
  }
  if (size > 0) yield end();
}

function tooLong(maxBytes: number): BatchResponse {
  return refuse(null, `the line is longer than ${maxBytes} bytes`);
}

function refuse(id: unknown, message: string): BatchResponse {
  return { id, result: null, report: [{ kind: 'error', path: '', message }] };
}

function executeRequest({ op, configs, to }: BatchRequest): Omit<BatchResponse, 'id'> {
  const report: Report = [];
  const inputs: NamedConfig[] = [];
  for (const [index, each] of configs.entries()) {
    const parsed = parse(each);
    report.push(...parsed.report);
    if (parsed.config === null) return { result: null, report };
    report.push(...validate(parsed.config));
    if (hasErrors(report)) return { result: null, report };
    inputs.push({ name: `configs[${index}]`, config: parsed.config });
  }
  const combined = combine(op, inputs, to);
  return { result: combined.result, report: [...report, ...combined.report] };
}

function combine(op: Operation, inputs: NamedConfig[], to: SpecVersion | undefined): Omit<BatchResponse, 'id'> {
  const [first] = inputs;
  if (first === undefined || to === undefined) return { result: first?.config ?? null, report: [] };
  if (op === 'translate') {
    const { config, report } = translate(first.config, to);
    return { result: config, report };
  }
  const merged = isSpec3(to) ? mergeAll(inputs, to) : { result: null, report: [] };
  // A merge cannot fail. An invalid result is returned with warnings.
  const flaws = merged.result === null ? [] : validate(merged.result).filter((entry) => entry.kind === 'error');
  const warnings: Report = flaws.map(({ path, message }) => ({
    kind: 'warning',
    path,
    message: `the merged config is invalid: ${message}`,
  }));
  return { result: merged.result, report: [...merged.report, ...warnings] };
}

const OPERATIONS = ['parse', 'validate', 'translate', 'merge'] as const;

type Operation = (typeof OPERATIONS)[number];

/** A parsed line of a batch. */
interface BatchRequest {
  op: Operation;
  configs: (string | object)[];
  /** Undefined if nothing is translated. */
  to: SpecVersion | undefined;
}

/** An expected error; the message describes what is wrong with the line. */
class NotUnderstood extends Error {}

function parseRequest(value: unknown): BatchRequest | string {
  try {
    const { op, configs, to } = readObject(value);
    const operation = readOperation(op);
    return { op: operation, configs: readConfigs(operation, configs), to: readTarget(operation, to) };
  } catch (failure) {
    if (failure instanceof NotUnderstood) return failure.message;
    throw failure;
  }
}

function readObject(value: unknown): Partial<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new NotUnderstood('the line is not a JSON object');
}

function readOperation(op: unknown): Operation {
  const known = OPERATIONS.find((each) => each === op);
  if (known !== undefined) return known;
  throw new NotUnderstood(`op must be one of ${OPERATIONS.map((each) => `"${each}"`).join(', ')}`);
}

function readConfigs(op: Operation, configs: unknown): (string | object)[] {
  if (!Array.isArray(configs) || !configs.every(isConfig)) {
    throw new NotUnderstood('configs must be a list of configs, each an object or a string with its exact bytes');
  }
  if (op === 'merge' && configs.length === 0) throw new NotUnderstood('merge takes at least one config, found none');
  if (op !== 'merge' && configs.length !== 1)
    throw new NotUnderstood(`${op} takes one config, found ${configs.length}`);
  return configs;
}

function isConfig(value: unknown): value is string | object {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

function readTarget(op: Operation, to: unknown): SpecVersion | undefined {
  if (op === 'parse' || op === 'validate') return undefined;
  const target = to === undefined && op === 'merge' ? DEFAULT_TARGET : to;
  if (typeof target !== 'string' || !isSpecVersion(target)) {
    throw new NotUnderstood(`${op}: "to" must be a known spec version, such as "3.5.0"`);
  }
  if (op === 'merge' && !isSpec3(target)) throw new NotUnderstood('merge: "to" must be a 3.x spec version');
  return target;
}
