// `slipway ignition validate`: Ignition configs by the rules of their spec, and MachineConfigs with the verdict of all
// commands. Every file is checked, also after one that cannot be read.
import { createReadStream } from 'node:fs';
import { machineConfigKind } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { hasErrors, type ReportEntry } from '@slipway/ignition';
import { InputError } from '../cli/errors.ts';
import { type Io, toJson, write, writeArtifact } from '../cli/io.ts';
import { checkDocument } from '../manifests/check-document.ts';
import { parseDocuments } from '../manifests/documents.ts';
import { nameOfFile, STDIN } from '../manifests/files.ts';
import { findForeign, whyBytesRefused } from '../manifests/foreign.ts';
import { type ManifestDocument, placeOf, toCodedProblem } from '../manifests/manifest-document.ts';
import { formatLine } from '../validate/report.ts';
import { type Input, isManifest, lines, load, readBytes, reportLines, tryJson, type OutputOptions } from './input.ts';

/** What is printed about one config. */
interface Answer {
  readonly name: string;
  readonly version: string | null;
  readonly valid: boolean;
  readonly report: readonly (ReportEntry & { readonly code?: string; readonly line?: number | null })[];
  /** Lines for a terminal. */
  readonly text: readonly string[];
}

/** A file, or a part of it, that is no config. With the code. */
interface Failure {
  readonly failure: string;
}

export async function validateConfigs(
  files: readonly string[],
  output: OutputOptions['output'],
  io: Io,
): Promise<void> {
  if (files.filter((file) => file === STDIN).length > 1) {
    throw new InputError('expected "-" (stdin) at most once, found it twice');
  }
  const results: (Answer | Failure)[] = [];
  for (const file of files) results.push(...(await checkFile(file, io.stdin)));
  const answers = results.filter((result) => 'report' in result);
  const failures = results.filter((result) => 'failure' in result);
  await write(io.stderr, lines(failures.map(({ failure }) => `slipway ignition: ${failure}`)));
  if (output === 'json')
    await writeArtifact(
      io.stdout,
      toJson(answers.map(({ name, version, valid, report }) => ({ name, version, valid, report }))),
    );
  else await write(io.stdout, lines(answers.flatMap(({ text }) => text)));
  if (failures.length > 0 || answers.some(({ valid }) => !valid)) io.setExitCode(1);
}

async function checkFile(file: string, stdin: AsyncIterable<Uint8Array>): Promise<(Answer | Failure)[]> {
  const name = nameOfFile(file);
  try {
    return await checkBytes(name, await readBytes(name, file === STDIN ? stdin : createReadStream(file)));
  } catch (failure) {
    if (!(failure instanceof InputError)) throw failure;
    return [{ failure: withCode(failure) }];
  }
}

async function checkBytes(name: string, bytes: Uint8Array): Promise<(Answer | Failure)[]> {
  const text = new TextDecoder('utf-8').decode(bytes);
  // An Ignition config in JSON is parsed from its exact bytes: decoding it here would hide duplicate keys.
  if (isIgnitionJson(text)) return [answerIgnition(load(name, bytes))];
  const refusal = whyBytesRefused(name, bytes);
  if (refusal !== null) return [noConfig(`${name}: ${refusal}`)];
  const { documents, findings } = parseDocuments(name, text);
  const results: (Answer | Failure)[] = findings.map((finding) => ({ failure: withCode(toCodedProblem(finding)) }));
  for (const document of documents) results.push(await checkOne(document));
  return results.length > 0
    ? results
    : [noConfig(`${name}: expected an Ignition config or a MachineConfig, found no object`)];
}

const withCode = ({ message, code }: { message: string; code: string }): string => `${message} [${code}]`;

const noConfig = (message: string): Failure => ({ failure: withCode(new InputError(message)) });

/** Also if it cannot be parsed, and does not look like an object of Kubernetes. */
function isIgnitionJson(text: string): boolean {
  if (!/^\s*\{[^{]/.test(text)) return false;
  const value = tryJson(text);
  return value === undefined ? !/"(apiVersion|kind)"\s*:/.test(text) : !isManifest(value);
}

function answerIgnition({ name, version, report }: Input): Answer {
  const valid = !hasErrors(report);
  const text = [...reportLines(name, report), ...(valid ? [`${name}: valid (spec ${version})`] : [])];
  return { name, version, valid, report, text };
}

async function checkOne(document: ManifestDocument): Promise<Answer | Failure> {
  const { file, position, value } = document;
  const isObject = isRecord(value) && value['kind'] !== undefined;
  const foreign = findForeign(value, { file, isNamed: true });
  if (!isObject && isRecord(value) && (isRecord(value['ignition']) || foreign === null)) {
    return answerIgnition(load(position === '' ? file : `${file}, ${position}`, value));
  }
  if (foreign !== null) return { failure: `${placeOf(document, foreign.field)}: ${withCode(foreign)}` };
  const verdict = await checkDocument(document);
  if (verdict?.kind !== machineConfigKind) {
    const kind = isRecord(value) ? String(value['kind']) : 'none';
    const expected = 'expected an Ignition config or a MachineConfig';
    return noConfig(`${placeOf(document)}: ${expected}, found kind ${kind}. For other kinds use slipway validate`);
  }
  const name = `${file} (${verdict.name})`;
  const version = readVersion(value);
  const valid = verdict.findings.every(({ severity }) => severity === 'warning');
  return {
    name,
    version,
    valid,
    report: verdict.findings.map(({ severity, field, message, code, line }) => ({
      kind: severity,
      path: field,
      message,
      code,
      line,
    })),
    text: [
      ...verdict.findings.map(formatLine),
      ...(valid ? [`${name}: valid${version === null ? '' : ` (spec ${version})`}`] : []),
    ],
  };
}

function readVersion(value: unknown): string | null {
  const { spec } = isRecord(value) ? value : {};
  const { config } = isRecord(spec) ? spec : {};
  const { ignition } = isRecord(config) ? config : {};
  const { version } = isRecord(ignition) ? ignition : {};
  return typeof version === 'string' ? version : null;
}
