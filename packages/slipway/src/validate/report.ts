// The result of `slipway validate`, and its formats.
import { count } from '@slipway/base/text';
import { maskSecrets } from '@slipway/base/masking';
import { toJson } from '../cli/io.ts';
import { safeLine } from '../cli/terminal.ts';
import { formatKinds } from '../manifests/documents.ts';
import type { PlacedFinding } from '../manifests/manifest-document.ts';

export interface Validation {
  readonly findings: readonly PlacedFinding[];
  readonly files: number;
  /** Checked objects. */
  readonly objects: number;
  /** Other objects by kind. */
  readonly notChecked: ReadonlyMap<string, number>;
  /** What was left out, one sentence each. */
  readonly notes: readonly string[];
}

export const reportForms = ['text', 'json', 'github'] as const;

export type ReportForm = (typeof reportForms)[number];

export const countErrors = ({ findings }: Pick<Validation, 'findings'>): number =>
  findings.filter(({ severity }) => severity === 'error').length;

export function formatValidation(validation: Validation, form: ReportForm): string {
  const sorted = { ...validation, findings: [...validation.findings].sort(byPlace) };
  if (form === 'json') return toJson(toReport(sorted));
  const formatFinding = form === 'github' ? formatAnnotation : formatLine;
  return [...sorted.findings.map(formatFinding), formatSummary(sorted)].map((line) => `${line}\n`).join('');
}

function byPlace(a: PlacedFinding, b: PlacedFinding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? Infinity) === (b.line ?? Infinity) ? 0 : (a.line ?? Infinity) - (b.line ?? Infinity);
}

/** `fleet/a.yaml:12: error: MachineConfig 50-x, spec.fips: must be true or false [SLW_CLI_MANIFEST]`. */
export function formatLine({ file, line, position, severity, message, code }: PlacedFinding): string {
  const suffix = position === '' ? '' : `, ${position}`;
  return safeLine(maskSecrets(`${file}${line === null ? suffix : `:${line}`}: ${severity}: ${message} [${code}]`));
}

function formatSummary(validation: Validation): string {
  const { findings, files, objects, notChecked } = validation;
  const errors = countErrors(validation);
  const found = `${count(errors, 'error')}, ${count(findings.length - errors, 'warning')}`;
  const left = notChecked.size === 0 ? '' : `; not checked: ${formatKinds(notChecked)}`;
  return safeLine(`${count(files, 'file')}, ${count(objects, 'object')}: ${found}${left}`);
}

/** A workflow command of GitHub Actions, which shows the finding at its line of a pull request. */
function formatAnnotation({ file, line, position, severity, code, message }: PlacedFinding): string {
  const place = line === null ? '' : `,line=${line}`;
  const text = line === null && position !== '' ? `${position}: ${message}` : message;
  // Masked before it is escaped, because the escapes hide secrets from the patterns.
  const shown = escapeData(safeLine(maskSecrets(text)));
  return `::${severity} file=${escapeProperty(safeLine(file))}${place},title=${escapeProperty(code)}::${shown}`;
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** The format of `-o json`. */
function toReport(validation: Validation) {
  const { findings, files, objects, notChecked, notes } = validation;
  const errors = countErrors(validation);
  return {
    findings: findings.map(({ file, line, severity, code, object, field, message }) => {
      const [kind = '', name = ''] = object.split(' ', 2);
      return { file, line, severity, code, kind, name, field, message };
    }),
    totals: {
      files,
      objects,
      errors,
      warnings: findings.length - errors,
      notChecked: Object.fromEntries(notChecked),
    },
    notes,
  };
}
