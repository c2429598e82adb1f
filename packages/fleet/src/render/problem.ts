import type { ReportEntry } from '@slipway/ignition';
import type { RenderCode } from '../errors.ts';

export interface RenderProblem {
  readonly code: RenderCode;
  /** Such as `MachineConfig 99-worker-chrony`. */
  readonly object: string;
  /** Such as `spec.config.storage.files[3].mode`; '' for the object as a whole. */
  readonly field: string;
  /** Names the object and the field, what was expected and found, and what to do. */
  readonly message: string;
}

/** An invalid config can have thousands of problems. Users read the first ones, and a condition has little space. */
const MAX_PROBLEMS = 20;

export function problemAt(code: RenderCode, object: string, field: string, text: string): RenderProblem {
  return { code, object, field, message: `${object}${field === '' ? '' : `, ${field}`}: ${text}` };
}

export const nameOfMachineConfig = (name: string): string => `MachineConfig ${name}`;

/** A path into the Ignition config as a path into its MachineConfig. */
export const fieldOfConfig = (path: string): string => (path === '' ? 'spec.config' : `spec.config.${path}`);

/** Entries of one kind as problems. */
export function problemsIn(
  report: readonly ReportEntry[],
  kind: ReportEntry['kind'],
  where: { code: RenderCode; object: string; wayOut?: string },
): RenderProblem[] {
  const end = where.wayOut === undefined ? '' : `. ${where.wayOut}`;
  return report
    .filter((entry) => entry.kind === kind)
    .map(({ path, message }) => problemAt(where.code, where.object, fieldOfConfig(path), `${message}${end}`));
}

/** The first problems; the last one mentions how many are omitted. */
export function firstProblems(problems: readonly RenderProblem[]): RenderProblem[] {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const left = problems.length - shown.length;
  const last = shown.at(-1);
  if (left > 0 && last !== undefined) {
    shown[shown.length - 1] = { ...last, message: `${last.message} (and ${left} more problems that are not listed)` };
  }
  return shown;
}
