// `slipway validate`: the verdict on every object in manifest files. One file is in memory at a time.
import { count } from '@slipway/base/text';
import { CommandError, failureText, isExpectedError } from '../cli/errors.ts';
import { createProgress, type Io, type Progress, write, writeArtifact, writeLines } from '../cli/io.ts';
import { isTerminal } from '../cli/terminal.ts';
import { checkDocument } from '../manifests/check-document.ts';
import { formatIgnored, readManifestFiles } from '../manifests/documents.ts';
import { parseHeader } from '../manifests/fleet-manifests.ts';
import type { ManifestDocument, PlacedFinding } from '../manifests/manifest-document.ts';
import { FleetChecks } from './fleet-checks.ts';
import { countErrors, formatValidation, type ReportForm, type Validation } from './report.ts';

export interface ValidateOptions {
  filename: string[];
  output: ReportForm;
}

/** 1 means an error in a manifest. */
const NOT_CHECKED = 2;

export async function runValidate({ filename, output }: ValidateOptions, io: Io): Promise<void> {
  const progress = isTerminal(io.stderr) ? createProgress(io.stderr) : () => undefined;
  try {
    const validation = await validateFiles(filename, io.stdin, progress);
    if (output !== 'json') await writeLines(io.stderr, validation.notes);
    // The form masks: `"Secret": 1` in a count of kinds is not a secret.
    await writeArtifact(io.stdout, formatValidation(validation, output));
    const errors = countErrors(validation);
    if (errors === 0 && isNothing(validation)) throw nothingToCheck(filename, validation);
    io.setExitCode(errors > 0 ? 1 : 0);
  } catch (error) {
    if (!isExpectedError(error)) throw error;
    await write(io.stderr, `${failureText(error, false)}\n`);
    io.setExitCode(NOT_CHECKED);
  }
}

/** No object at all, of which something could be reported. */
const isNothing = ({ objects, findings }: Validation): boolean =>
  objects === 0 && findings.every(({ object }) => object === '');

const nothingToCheck = (paths: readonly string[], { notChecked }: Validation): CommandError =>
  new CommandError(
    'SLW_CLI_MANIFEST',
    `${paths.join(', ')}: expected objects such as MachineConfigs in .yaml, .yml or .json files, found ${formatIgnored({ ignored: notChecked })}`,
  );

async function validateFiles(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  progress: Progress,
): Promise<Validation> {
  const validator = new Validator();
  for await (const { documents, findings } of readManifestFiles(paths, stdin)) {
    validator.files += 1;
    validator.findings.push(...findings);
    for (const document of documents) await validator.check(document);
    progress(`checked ${count(validator.files, 'file')}`);
  }
  return validator.finish();
}

class Validator {
  files = 0;
  readonly findings: PlacedFinding[] = [];
  readonly #fleet = new FleetChecks();
  readonly #notChecked = new Map<string, number>();
  #objects = 0;
  #withRemoteContent = 0;

  async check(document: ManifestDocument): Promise<void> {
    const verdict = await checkDocument(document);
    if (verdict === null) {
      const { kind } = parseHeader(document.value);
      this.#notChecked.set(kind, (this.#notChecked.get(kind) ?? 0) + 1);
      return;
    }
    this.#objects += 1;
    if (verdict.hasRemoteContent) this.#withRemoteContent += 1;
    this.findings.push(...verdict.findings, ...this.#fleet.add(document, verdict));
  }

  finish(): Validation {
    const { files } = this;
    const findings = [...this.findings, ...this.#fleet.finish()];
    const remote = count(this.#withRemoteContent, 'MachineConfig');
    const notes =
      this.#withRemoteContent === 0 ? [] : [`note: remote content of ${remote} is not fetched and not checked`];
    return { findings, files, objects: this.#objects, notChecked: this.#notChecked, notes };
  }
}
