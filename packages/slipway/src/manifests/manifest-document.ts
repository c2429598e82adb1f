// An object in a manifest file. It knows its place: the file, the position in it and, for a problem, the line of a field.
import { type CodedProblem, formatProblem } from '@slipway/fleet';
import type { Finding } from '@slipway/fleet/check';

export interface ManifestDocument {
  readonly file: string;
  /** In its file, such as `document 2, item 5`; '' for the only document. */
  readonly position: string;
  readonly value: unknown;
  /** The line of a field; null if it is not known. It takes time, so only for problems. */
  readonly findLine: (field: string) => number | null;
}

/** A finding in a file. */
export interface PlacedFinding extends Finding {
  readonly file: string;
  readonly line: number | null;
  readonly position: string;
}

export const placeFinding = (document: ManifestDocument, finding: Finding): PlacedFinding => ({
  ...finding,
  file: document.file,
  line: document.findLine(finding.field),
  position: document.position,
});

/** `fleet.yaml, line 7`, or `fleet.yaml, document 2, item 5` if the line is not known. */
export function formatPlace({ file, line, position }: Pick<PlacedFinding, 'file' | 'line' | 'position'>): string {
  if (line !== null) return `${file}, line ${line}`;
  return position === '' ? file : `${file}, ${position}`;
}

export const placeOf = (document: ManifestDocument, field = ''): string =>
  formatPlace({ ...document, line: document.findLine(field) });

/** A finding as a sentence with its place: `fleet.yaml, line 7: MachineConfig 99-x, spec.fips: must be true or false`. */
export const toCodedProblem = (finding: PlacedFinding): CodedProblem => ({
  code: finding.code,
  message: `${formatPlace(finding)}: ${finding.message}`,
});

export const errorsIn = (findings: readonly PlacedFinding[]): CodedProblem[] =>
  findings.filter(({ severity }) => severity === 'error').map(toCodedProblem);

/** One sentence each. */
export const warningsIn = (findings: readonly PlacedFinding[]): string[] =>
  findings.filter(({ severity }) => severity === 'warning').map((finding) => formatProblem(toCodedProblem(finding)));
