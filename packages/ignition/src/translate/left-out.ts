// What a step down does with a field that the older spec lacks: nothing when it is not there, an entry of kind info when it
// only says what is so anyway, an error otherwise.
import type { Findings } from '../report.ts';
import type { SpecVersion } from '../version.ts';

export interface NotSayable {
  readonly path: string;
  /** What the older spec lacks, where that is more than the last field of the path. */
  readonly name?: string;
  readonly value: unknown;
  /** The value that says nothing: without the field it is the same. */
  readonly neutral?: unknown;
}

export function leaveOut(field: NotSayable, to: SpecVersion, findings: Findings): void {
  const { path, value, neutral } = field;
  if (value === undefined) return;
  const name = field.name ?? path.slice(path.lastIndexOf('.') + 1);
  if (neutral !== undefined && value === neutral) {
    findings.info(path, `spec ${to} has no ${name}; it is left out, since it only says what is so anyway`);
  } else {
    findings.error(path, `spec ${to} has no ${name}: a config of that spec cannot say this`);
  }
}
